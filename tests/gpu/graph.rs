//! The frame graph on the device, with test passes: histories, aliased memory, read-backs.

use std::{cell::RefCell, sync::Arc};

use crate::common::gpu;
use half::f16;
use sunny16::{
    camera::ToneMapper,
    gpu::{Frames, Image, vk},
    graph::{Access, Executed, Graph, GraphCache},
    passes::tonemap::{DisplayTransform, TonemapPass},
};

const LIGHT: vk::Format = vk::Format::R16G16B16A16_SFLOAT;

fn halves(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(2).map(|pair| f16::from_le_bytes([pair[0], pair[1]]).to_f32()).collect()
}

/// Records, submits and waits for a frame.
fn run(frames: &mut Frames, cache: &mut GraphCache, graph: Graph<'_>) -> Executed {
    let mut rec = frames.begin().unwrap();
    let executed = graph.execute(&mut rec, cache).unwrap();
    let ticket = rec.submit().unwrap();
    frames.wait(ticket).unwrap();
    executed
}

#[test]
fn histories_hold_the_last_frames_content() {
    let Some(guard) = gpu() else { return };
    let mut frames = Frames::new(&guard.gpu, 2).unwrap();
    let mut cache = GraphCache::default();
    // The size changes once: a new history starts with zeros.
    for (size, first) in [(8, 0u64), (12, 6)] {
        for frame in first..first + 5 {
            let mut graph = Graph::new(frame);
            let (previous, current) = graph.history("taa", size, size, LIGHT);
            let (other_previous, other) = graph.history("exposure", 1, 1, LIGHT);
            // The reader may be declared before or after the writer. A write that only the next
            // frame reads must be named as a result of this one, or its pass is culled.
            graph.output(other);
            let early = graph.read_back("early", previous);
            graph
                .pass("write")
                .color_cleared(current, [frame as f32 + 1.0, 0.5, -2.0, 1.0])
                .record(|_| Ok(()));
            graph
                .pass("write other")
                .color_cleared(other, [100.0 + frame as f32; 4])
                .record(|_| Ok(()));
            let late = graph.read_back("late", previous);
            let now = graph.read_back("now", current);
            let others = graph.read_back("other", other_previous);
            let executed = run(&mut frames, &mut cache, graph);
            let read = |handle| halves(executed.buffer(handle).unwrap().mapped());
            let texels = (size * size) as usize;
            let expect = |r: f32| [r, 0.5, -2.0, 1.0].repeat(texels);
            let last = if frame == first { vec![0.0; texels * 4] } else { expect(frame as f32) };
            assert_eq!(read(early), last, "frame {frame}");
            assert_eq!(read(late), last, "frame {frame}");
            assert_eq!(read(now), expect(frame as f32 + 1.0), "frame {frame}");
            // This one keeps its size, and frame 5 was skipped: the slots still swap by number.
            if frame > first {
                assert_eq!(read(others), [100.0 + frame as f32 - 1.0; 4], "frame {frame}");
            }
        }
    }
}

#[test]
fn transient_images_stay_while_histories_swap() {
    let Some(guard) = gpu() else { return };
    let mut frames = Frames::new(&guard.gpu, 2).unwrap();
    let mut cache = GraphCache::default();
    // The images themselves, so that a new one cannot have the address of an old one.
    let seen = RefCell::new(Vec::<Arc<Image>>::new());
    for frame in 0..4u64 {
        let mut graph = Graph::new(frame);
        let (previous, current) = graph.history("taa", 8, 8, LIGHT);
        let light = graph.image("light", 8, 8, LIGHT);
        graph.output(current);
        graph
            .pass("light")
            .uses(previous, Access::FragmentSampled)
            .color_cleared(light, [1.0; 4])
            .record(|cx| {
                seen.borrow_mut().push(cx.image(light));
                Ok(())
            });
        graph
            .pass("write")
            .uses(light, Access::FragmentSampled)
            .color_cleared(current, [1.0; 4])
            .record(|_| Ok(()));
        run(&mut frames, &mut cache, graph);
    }
    let seen = seen.into_inner();
    assert_eq!(seen.len(), 4);
    assert!(seen.iter().all(|image| Arc::ptr_eq(image, &seen[0])), "images were made again");
}

/// IEC 61966-2-1, to eight bits and back.
fn srgb_byte(x: f64) -> u8 {
    let encoded = if x <= 0.003_130_8 { 12.92 * x } else { 1.055 * x.powf(1.0 / 2.4) - 0.055 };
    (encoded * 255.0).round() as u8
}

#[test]
fn aliased_images_keep_their_pixels() {
    let Some(guard) = gpu() else { return };
    let tonemap = TonemapPass::new(&guard.gpu).unwrap();
    let mut frames = Frames::new(&guard.gpu, 2).unwrap();
    let mut cache = GraphCache::default();
    for frame in 0..3u64 {
        let start = 0.0004 + 0.0003 * frame as f32;
        let mut graph = Graph::new(frame);
        let mut image = graph.image("start", 64, 64, LIGHT);
        graph.pass("start").color_cleared(image, [start, 2.0 * start, 0.0, 1.0]).record(|_| Ok(()));
        let unused = graph.image("unused", 64, 64, LIGHT);
        graph
            .pass("culled")
            .color_cleared(unused, [1.0; 4])
            .record(|_| panic!("a culled pass was recorded"));
        // Each pass reads the previous image and writes its own: at most two are alive at any time.
        for _ in 0..7 {
            image = tonemap.declare(
                &mut graph,
                [64, 64],
                image,
                DisplayTransform { mapper: ToneMapper::Linear, ..DisplayTransform::default() },
            );
        }
        let out = graph.read_back("end", image);
        let executed = run(&mut frames, &mut cache, graph);
        let memory = executed.prepared.memory;
        println!("transient images: {} bytes for {}", memory.total, memory.unshared);
        assert!(memory.total * 2 < memory.unshared, "{memory:?}: nothing is shared");
        assert_eq!(executed.prepared.plan.culled.len(), 1);
        let buffer = executed.buffer(out).unwrap();
        let want = [start, 2.0 * start, 0.0].map(|x| {
            let mut x = f64::from(f16::from_f32(x));
            for _ in 0..7 {
                x = f64::from(srgb_byte(x)) / 255.0;
            }
            (x * 255.0).round() as u8
        });
        assert_eq!(buffer.mapped().len(), 64 * 64 * 4);
        for pixel in buffer.mapped().chunks_exact(4) {
            for channel in 0..3 {
                // Rounding of 1/255 may go either way in the first, steep steps.
                assert!(pixel[channel].abs_diff(want[channel]) <= 2, "{pixel:?} for {want:?}");
            }
        }
        assert!(want[0] < want[1] && want[0] > 100 && want[2] == 0, "{want:?}");
    }
}

#[test]
fn without_aliasing_frames_in_flight_do_not_mix() {
    let Some(guard) = gpu() else { return };
    let mut frames = Frames::new(&guard.gpu, 2).unwrap();
    let mut cache = GraphCache::default();
    let mut waiting = Vec::new();
    for frame in 0..6u64 {
        let mut graph = Graph::new(frame);
        let images: Vec<_> =
            (0..3).map(|index| graph.image(&format!("image {index}"), 16, 16, LIGHT)).collect();
        for (index, &image) in images.iter().enumerate() {
            let value = (frame * 10 + index as u64) as f32;
            graph.pass("clear").color_cleared(image, [value; 4]).record(|_| Ok(()));
        }
        let outs: Vec<_> = images.iter().map(|&image| graph.read_back("out", image)).collect();
        let mut rec = frames.begin().unwrap();
        let executed = graph.execute(&mut rec, &mut cache).unwrap();
        waiting.push((frame, rec.submit().unwrap(), executed, outs));
        // The first is read while the second is in flight.
        if waiting.len() == 2 {
            let (frame, ticket, executed, outs) = waiting.remove(0);
            frames.wait(ticket).unwrap();
            for (index, out) in outs.into_iter().enumerate() {
                let got = halves(executed.buffer(out).unwrap().mapped());
                assert!(
                    got.iter().all(|&value| value == (frame * 10 + index as u64) as f32),
                    "frame {frame}: {got:?}"
                );
            }
        }
    }
}

#[test]
fn declared_bytes_count_each_resource_whole() {
    let Some(guard) = gpu() else { return };
    let mut graph = Graph::new(0);
    let image = graph.image("image", 16, 8, LIGHT);
    let buffer = graph.storage("buffer", 1000);
    graph
        .pass("write")
        .color_cleared(image, [0.0; 4])
        .uses(buffer, Access::ComputeStorageWrite)
        .record(|_| Ok(()));
    graph
        .pass("update")
        .color_loaded(image)
        .uses(buffer, Access::ComputeStorageReadWrite)
        .record(|_| Ok(()));
    // Nothing depends on it.
    let unused = graph.image("unused", 99, 99, LIGHT);
    graph.pass("culled").color_cleared(unused, [0.0; 4]).record(|_| Ok(()));
    graph.output(image);
    let prepared = graph.prepare(&guard.gpu, &mut GraphCache::default()).unwrap();
    let bytes: Vec<_> = prepared
        .declared_bytes()
        .into_iter()
        .map(|pass| {
            let images = [pass.images_read, pass.images_written];
            (pass.pass, images, [pass.buffers_read, pass.buffers_written])
        })
        .collect();
    let image = 16 * 8 * 8;
    assert_eq!(
        bytes,
        [
            ("write".to_owned(), [0, image], [0, 1000]),
            ("update".to_owned(), [image, image], [1000, 1000]),
        ]
    );
}
