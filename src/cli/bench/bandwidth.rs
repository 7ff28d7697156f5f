//! Copy bandwidth of a device, the reference of bandwidth shares.

use super::{series::median, warm_up::WarmUp};
use crate::{
    cli::error::CliError,
    gpu::{Frames, Gpu, vk},
    graph::{Access, BufferHandle, Graph, GraphCache},
};

/// Size of each of the two buffers: greater than the caches of current devices.
const BYTES: u64 = 256 << 20;
/// Copies per submission; an even number.
const COPIES: u32 = 8;
/// Measured submissions.
const SAMPLES: usize = 5;

/// Bytes read and written per second by copies from one buffer to another, by device timestamps.
/// `None` for software devices, and for devices with too little memory.
pub fn copy_bandwidth(gpu: &Gpu) -> Result<Option<f64>, CliError> {
    let info = gpu.info();
    if info.kind == vk::PhysicalDeviceType::CPU || info.memory < 16 * BYTES {
        return Ok(None);
    }
    let mut frames = Frames::new(gpu, 1)?;
    let mut cache = GraphCache::default();
    let mut seconds = || -> Result<f64, CliError> {
        let mut graph = Graph::new(0);
        let buffers = [graph.storage("copy a", BYTES), graph.storage("copy b", BYTES)];
        graph.clear_buffers("clear copies", buffers);
        // There and back, so that each copy reads what the one before it wrote.
        for number in 0..COPIES {
            let [a, b] = buffers;
            declare_copy(&mut graph, if number % 2 == 0 { [a, b] } else { [b, a] });
        }
        graph.output(buffers[0]);
        let mut rec = frames.begin()?;
        graph.execute(&mut rec, &mut cache)?;
        let ticket = rec.submit()?;
        frames.wait(ticket)?;
        let copies = frames.times(ticket).iter().filter(|pass| pass.name == "copy");
        Ok(copies.map(|pass| pass.ms).sum::<f64>() * 1e-3)
    };
    let mut warm_up = WarmUp::default();
    while !warm_up.is_complete_after(seconds()?) {}
    let samples = (0..SAMPLES).map(|_| seconds()).collect::<Result<Vec<_>, _>>()?;
    let moved = (2 * BYTES * u64::from(COPIES)) as f64;
    Ok(Some(moved / median(&samples)).filter(|rate| rate.is_finite()))
}

fn declare_copy(graph: &mut Graph<'_>, [from, to]: [BufferHandle; 2]) {
    graph.pass("copy").uses(from, Access::CopyFrom).uses(to, Access::CopyTo).record(move |cx| {
        let (from, to) = (cx.buffer(from), cx.buffer(to));
        cx.rec.copy_buffer(&from, &to, 0, 0, BYTES);
        Ok(())
    });
}
