//! Videos of sequences by the program ffmpeg, if it is installed (<https://ffmpeg.org>).

use std::{
    env, fs,
    io::{ErrorKind, Read as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
};

use super::error::CliError;
use crate::output;

/// Name of the program.
const FFMPEG: &str = "ffmpeg";

/// Checks before rendering that a video can be written. Returns the path of ffmpeg.
pub fn check(video: &Path) -> Result<PathBuf, CliError> {
    let found = env::var_os("PATH").and_then(|path| {
        let programs = env::split_paths(&path).map(|folder| folder.join(FFMPEG));
        programs.into_iter().find(|program| program.is_file())
    });
    let found = found.ok_or_else(|| {
        CliError::Usage(format!(
            "--video {}: the program ffmpeg is not in PATH; install it, or omit the option and \
             make the video from the pictures",
            video.display()
        ))
    })?;
    if video.extension().is_none() {
        return Err(CliError::Usage(format!(
            "invalid --video '{}': expected a name with an extension that ffmpeg knows, e.g. .mp4",
            video.display()
        )));
    }
    output::create_folder(video)?;
    output::check_writable(video)?;
    Ok(found)
}

/// Arguments of ffmpeg for PNG files on standard input. Most players need even sizes and colors of
/// every second pixel.
fn arguments(fps: f64, to: &Path) -> Vec<String> {
    let fixed = ["-y", "-loglevel", "error", "-f", "image2pipe", "-c:v", "png", "-framerate"];
    let mut arguments: Vec<String> = fixed.map(String::from).into();
    arguments.push(fps.to_string());
    let rest = ["-i", "-", "-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p"];
    arguments.extend(rest.map(String::from));
    arguments.push(to.display().to_string());
    arguments
}

/// Makes a video of PNG files with `fps` pictures per second.
pub fn write(ffmpeg: &Path, video: &Path, pictures: &[PathBuf], fps: f64) -> Result<(), CliError> {
    let failed = |what: String| CliError::Usage(format!("--video {}: {what}", video.display()));
    // Written beside the video and renamed: an unfinished video does not replace one.
    let name = video.file_name().unwrap_or_default().to_string_lossy();
    let draft = video.with_file_name(format!(".unfinished.{name}"));
    let mut command = Command::new(ffmpeg);
    command.args(arguments(fps, &absolute(&draft))).stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command
        .stdout(Stdio::null())
        .spawn()
        .map_err(|error| failed(format!("{} does not start: {error}", ffmpeg.display())))?;
    let messages = child.stderr.take().map(|mut stderr| {
        thread::spawn(move || {
            let mut text = Vec::new();
            // What was read before an error is shown.
            let _ = stderr.read_to_end(&mut text);
            String::from_utf8_lossy(&text).into_owned()
        })
    });
    let mut input = child.stdin.take();
    let written = pictures.iter().try_for_each(|picture| {
        let mut file = fs::File::open(picture)?;
        input.as_mut().map_or(Ok(0), |input| std::io::copy(&mut file, input)).map(drop)
    });
    drop(input);
    let status = child.wait();
    let messages = messages.and_then(|reader| reader.join().ok()).unwrap_or_default();
    let result = match (status, written) {
        (Ok(status), _) if !status.success() => {
            let last = messages.trim().lines().last().unwrap_or("no message").to_owned();
            Err(failed(format!("ffmpeg failed ({status}): {last}")))
        }
        (Err(error), _) => Err(failed(error.to_string())),
        // ffmpeg has what it needs.
        (Ok(_), Err(error)) if error.kind() != ErrorKind::BrokenPipe => {
            Err(failed(format!("a picture cannot be read: {error}")))
        }
        (Ok(_), _) => fs::rename(&draft, video).map_err(|error| failed(error.to_string())),
    };
    if result.is_err() {
        let _ = fs::remove_file(&draft);
    }
    result
}

/// An absolute path: ffmpeg reads names that begin with `-` or a protocol otherwise.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ffmpeg_reads_pictures_at_the_frame_rate() {
        let arguments = arguments(23.976, Path::new("/a/b.mp4"));
        let after = |name: &str| {
            arguments.iter().position(|a| a == name).and_then(|at| arguments.get(at + 1)).unwrap()
        };
        assert_eq!((after("-framerate").as_str(), after("-i").as_str()), ("23.976", "-"));
        assert_eq!(arguments.last().unwrap(), "/a/b.mp4");
    }
}
