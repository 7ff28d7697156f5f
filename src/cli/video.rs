//! Videos of sequences by the program ffmpeg, if it is installed (<https://ffmpeg.org>).

use std::{
    env,
    ffi::OsString,
    fs,
    io::{Read as _, Write as _},
    path::{Path, PathBuf},
    process::{ChildStdin, Command, Stdio},
    thread,
};

use super::error::{CliError, unreadable_picture};
use crate::output::{self, OutputError};

/// Name of the program.
const FFMPEG: &str = "ffmpeg";

/// Checks before rendering that a video can be made. Returns the path of ffmpeg.
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
    Ok(found)
}

/// Filters: most players need even sizes and colors of every second pixel. The colors are those of
/// BT.709 in the limited range, with the transfer function of sRGB as in the PNGs.
const FILTERS: &str = "pad=ceil(iw/2)*2:ceil(ih/2)*2,scale=out_color_matrix=bt709:out_range=tv";

/// Arguments of ffmpeg for PNG files on standard input.
fn arguments(fps: f64, to: &Path) -> Vec<OsString> {
    let input = ["-y", "-loglevel", "error", "-f", "image2pipe", "-c:v", "png", "-framerate"];
    let mut arguments: Vec<OsString> = input.map(OsString::from).into();
    arguments.push(fps.to_string().into());
    arguments.extend(["-i", "-", "-vf", FILTERS, "-pix_fmt", "yuv420p"].map(OsString::from));
    let colors = ["-colorspace", "bt709", "-color_primaries", "bt709"];
    arguments.extend(colors.map(OsString::from));
    arguments.extend(["-color_trc", "iec61966-2-1", "-color_range", "tv"].map(OsString::from));
    arguments.push(to.into());
    arguments
}

/// Makes a video of PNG files with `fps` pictures per second.
pub fn write(ffmpeg: &Path, video: &Path, pictures: &[PathBuf], fps: f64) -> Result<(), CliError> {
    output::create_folder(video)?;
    let failed = |cause: String| {
        let remedy = "the pictures are kept; repeat the command with --skip-existing";
        let detail = format!("{cause}; {remedy}");
        CliError::Output(OutputError { file: video.display().to_string(), detail })
    };
    // Written beside the video and renamed: an unfinished video does not replace one.
    let target = absolute(video);
    let mut suffix = OsString::from(".");
    suffix.push(target.extension().unwrap_or_default());
    let draft = tempfile::Builder::new()
        .prefix(".")
        .suffix(&suffix)
        .make_in(target.parent().unwrap_or(Path::new("/")), |file| fs::File::create_new(file))
        .map_err(|error| failed(error.to_string()))?
        .into_temp_path();
    let mut command = Command::new(ffmpeg);
    command.args(arguments(fps, &draft)).stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command
        .stdout(Stdio::null())
        .spawn()
        .map_err(|error| failed(format!("{} does not start: {error}", ffmpeg.display())))?;
    let messages = child.stderr.take().map(|mut stderr| {
        thread::spawn(move || {
            let mut text = Vec::new();
            // Text read before an error is shown.
            let _ = stderr.read_to_end(&mut text);
            String::from_utf8_lossy(&text).into_owned()
        })
    });
    let sent = child.stdin.take().map_or(Ok(()), |input| send(input, pictures));
    let status = child.wait();
    let messages = messages.and_then(|reader| reader.join().ok()).unwrap_or_default();
    sent?;
    let status = status.map_err(|error| failed(error.to_string()))?;
    if !status.success() {
        let last = messages.trim().lines().last().unwrap_or("no message").to_owned();
        return Err(failed(format!("ffmpeg failed ({status}): {last}")));
    }
    draft.persist(&target).map_err(|error| failed(error.error.to_string()))
}

/// Sends PNG files to ffmpeg.
fn send(mut input: ChildStdin, pictures: &[PathBuf]) -> Result<(), CliError> {
    for picture in pictures {
        let bytes = fs::read(picture).map_err(|error| unreadable_picture(picture, error))?;
        if input.write_all(&bytes).is_err() {
            // ffmpeg has ended; its exit status distinguishes failure from success.
            break;
        }
    }
    Ok(())
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
            let at = arguments.iter().position(|argument| argument == name).unwrap();
            arguments[at + 1].to_str().unwrap()
        };
        assert_eq!((after("-framerate"), after("-i")), ("23.976", "-"));
        assert_eq!((after("-colorspace"), after("-color_range")), ("bt709", "tv"));
        assert!(after("-vf").contains("out_color_matrix=bt709:out_range=tv"));
        assert_eq!(arguments.last().unwrap(), "/a/b.mp4");
    }
}
