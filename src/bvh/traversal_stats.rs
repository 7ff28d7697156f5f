//! Traversal cost of rays.

/// Traversal cost of a ray.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TraversalStats {
    /// Nodes of either level that were visited.
    pub nodes: u32,
    /// Triangles that were tested.
    pub triangles: u32,
    /// Instances that the ray entered.
    pub instances: u32,
}

/// Callbacks of a traversal: counters, or nothing, which the compiler removes.
pub(super) trait TraversalCounter {
    fn node(&mut self) {}
    fn triangles(&mut self, _count: u32) {}
    fn instance(&mut self) {}
}

impl TraversalCounter for () {}

impl TraversalCounter for TraversalStats {
    fn node(&mut self) {
        self.nodes = self.nodes.saturating_add(1);
    }

    fn triangles(&mut self, count: u32) {
        self.triangles = self.triangles.saturating_add(count);
    }

    fn instance(&mut self) {
        self.instances = self.instances.saturating_add(1);
    }
}
