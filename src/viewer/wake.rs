//! Wake-up of the window from other threads.

use std::sync::Arc;

/// Called from other threads when there is a new result to show.
pub type Wake = Arc<dyn Fn() + Send + Sync>;
