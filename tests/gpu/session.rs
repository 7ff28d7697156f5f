//! Sessions: what a change costs, canceled pictures, another scene in between, and leaks.

use crate::common::{gpu, gpu_with};
use glam::Mat3;
use sunny16::{
    frame::{RenderSettings, RenderedImage, Renderer},
    session::{
        self, DeviceWork, OpenRequest, OpenScene, Session, SessionError, Size,
        look_change::LookChange,
    },
};

const SAMPLES: u32 = 6;

fn request(set: &[&str]) -> OpenRequest {
    let own = ["camera.exposure.ev100=6", "quality=direct"];
    OpenRequest {
        scene: Some("builtin:cornell".into()),
        size: Some(Size { width: 48, height: 48 }),
        set: own.iter().chain(set).map(ToString::to_string).collect(),
        ..OpenRequest::default()
    }
}

fn opened(set: &[&str]) -> OpenScene {
    session::open(&request(set)).unwrap()
}

fn settings(session: &mut Session) -> RenderSettings {
    let exposed = session.determine_exposure(false).unwrap();
    session.picture_settings(&exposed, Mat3::IDENTITY, vec![]).unwrap()
}

fn still(session: &mut Session, settings: &RenderSettings) -> RenderedImage {
    session.still(settings, SAMPLES, &mut |_| Ok(())).unwrap()
}

#[test]
fn a_still_picture_is_its_frames_and_can_be_canceled() {
    let Some(guard) = gpu() else { return };
    let mut session = Session::open(guard.renderer(), opened(&[])).unwrap();
    let settings = settings(&mut session);
    let whole = still(&mut session, &settings);
    let mut last = None;
    for number in 0..SAMPLES {
        last = Some(session.still_frame(&settings, number, SAMPLES).unwrap());
    }
    assert_eq!(last.unwrap().nits, whole.nits, "one frame at a time, as the window draws");
    let mut done = Vec::new();
    let canceled = session.still(&settings, SAMPLES, &mut |samples| {
        done.push(samples);
        if samples < 3 { Ok(()) } else { Err(SessionError::Canceled) }
    });
    assert!(matches!(canceled, Err(SessionError::Canceled)));
    assert_eq!(done, [1, 2, 3]);
    assert_eq!(still(&mut session, &settings).nits, whole.nits, "after a cancellation");
    let bright = session.with_scene(opened(&["camera.exposure.ev100=4"]), |session| {
        let settings = self::settings(session);
        session.still(&settings, 1, &mut |_| Ok(()))
    });
    assert_ne!(bright.unwrap().display, whole.display);
    assert_eq!(still(&mut session, &settings).nits, whole.nits, "after another scene");
}

#[test]
fn changes_cost_what_they_affect() {
    let Some(guard) = gpu() else { return };
    let base = session::read(&request(&[])).unwrap().scene;
    let mut session = Session::open(guard.renderer(), opened(&[])).unwrap();
    for (property, change, work, keeps_reading) in [
        ("camera.exposure.ev100=7", LookChange::Frame, DeviceWork::None, true),
        ("passes.ssr.enabled=true", LookChange::Frame, DeviceWork::None, false),
        ("gi.enabled=true", LookChange::Vpls, DeviceWork::Update, false),
        ("gi.enabled=true", LookChange::Nothing, DeviceWork::None, true),
    ] {
        let mut next = session.opened.clone();
        let mut look = next.look.clone();
        look.assign(property).unwrap();
        next.set_look(look, next.size).unwrap();
        let applied = session.apply(next, &base).unwrap();
        let got = (applied.change, applied.work, applied.keeps_reading);
        assert_eq!(got, (change, work, keeps_reading), "{property}");
    }
}

#[test]
fn objects_that_outlive_the_renderer_are_reported() {
    // A device of its own: shared ones keep the pipelines of other tests.
    let Some(guard) = gpu_with(Vec::new()) else { return };
    let open = || Session::open(Renderer::new(&guard.gpu).unwrap(), opened(&[])).unwrap();
    open().close().unwrap();
    let (_, gpu_scene, renderer) = open().into_parts();
    let Err(SessionError::Leaked(names)) = session::close(renderer) else {
        panic!("the scene is alive")
    };
    assert!(!names.is_empty());
    drop(gpu_scene);
    assert!(guard.gpu.live_objects().is_empty());
}
