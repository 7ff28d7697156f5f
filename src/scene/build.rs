//! Scenes made in code: a builder with lights in lumens, and the check of the scene's invariants.

use std::{f64::consts::PI, sync::Arc};

use glam::{DMat4, DVec3, Vec3};

use crate::{
    photometry::{
        Candela, Kelvin, Lumen, Lux,
        color::kelvin_to_rgb,
        lights::{Cone, Emitter, LightError, LightStrength, PhysicalLight, SpotFlux},
    },
    scene::{
        AlphaMode, Camera, Image, Light, Material, Mesh, Node, Primitive, Projection, Sampler,
        Scene, Texture, TextureRef, procedural::textures::TextureImage,
    },
};

macro_rules! handle {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct $name(usize);

        impl $name {
            /// Index in the scene's list.
            #[must_use]
            pub const fn index(self) -> usize {
                self.0
            }
        }
    };
}

handle!(
    /// Handle of a material in the `SceneBuilder` that made it.
    MaterialId
);
handle!(
    /// Handle of a mesh in the `SceneBuilder` that made it.
    MeshId
);
handle!(
    /// Handle of a texture in the `SceneBuilder` that made it.
    TextureId
);
handle!(
    /// Handle of a node in the `SceneBuilder` that made it.
    NodeId
);

/// The broken invariant of the scene model, and where.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SceneError {
    /// An index is out of range of its list.
    #[error("{place}: index {index} is out of range, there are {count}")]
    Index {
        /// Element that holds the index.
        place: String,
        /// The index.
        index: usize,
        /// Length of the list.
        count: usize,
    },
    /// Parent and child lists disagree, or a node is its own ancestor.
    #[error(
        "node {0}: parent and child lists disagree, or the node is its own ancestor; expected a forest"
    )]
    Hierarchy(usize),
    /// A number is NaN, infinite or out of range.
    #[error("{0}: a number is NaN, infinite or out of range")]
    Number(String),
    /// An attribute differs in length from the positions, the number of indices is not a multiple
    /// of three, or an image has too few bytes.
    #[error("{0}: array lengths do not agree")]
    Length(String),
    /// A normal or tangent is not of unit length.
    #[error("{0}: a normal or tangent is not of unit length")]
    Direction(String),
    /// Invalid water settings.
    #[error("water '{name}': {error}")]
    Water {
        /// Name of the material.
        name: String,
        /// Cause.
        error: String,
    },
    /// Invalid light settings.
    #[error("light '{name}': {error}")]
    Light {
        /// Name of the light.
        name: String,
        /// Cause.
        error: LightError,
    },
}

/// Intensity of a point light of flux `flux`, isotropic: flux / (4 pi sr).
#[must_use]
pub fn point_intensity(flux: Lumen) -> Candela {
    Candela(flux.get() / (4.0 * PI))
}

/// Intensity on the axis of a spot whose cone holds `flux`, for the falloff that
/// KHR_lights_punctual recommends between the half angles `inner` and `outer` (rad).
///
/// An invalid cone gives 0.
#[must_use]
pub fn spot_intensity(flux: Lumen, inner: f64, outer: f64) -> Candela {
    Cone::new(inner, outer)
        .map_or(Candela(0.0), |cone| Candela(flux.get() / cone.flux_per_candela().get()))
}

/// Linear Rec.709 color of a black body, 1000 to 25,000 K, of luminance 1, so that it does not
/// change lumens.
#[must_use]
pub fn black_body(temperature: Kelvin) -> Vec3 {
    let temperature = Kelvin(temperature.get().clamp(1000.0, 25_000.0));
    kelvin_to_rgb(temperature).map_or(Vec3::ONE, |rgb| rgb.as_vec3())
}

/// A dielectric of a linear base color.
#[must_use]
pub fn dielectric(name: &str, rgb: Vec3, roughness: f32) -> Material {
    Material {
        name: name.to_owned(),
        base_color: rgb.extend(1.0),
        metallic: 0.0,
        roughness,
        ..Material::default()
    }
}

/// A metal of a linear reflectance at normal incidence.
#[must_use]
pub fn metal(name: &str, rgb: Vec3, roughness: f32) -> Material {
    Material { metallic: 1.0, ..dielectric(name, rgb, roughness) }
}

/// World transform of a light or camera at `position` that faces `target` along its -Z.
#[must_use]
pub fn look_at_transform(position: DVec3, target: DVec3) -> DMat4 {
    let back = (position - target).normalize_or(DVec3::Z);
    let up = if back.cross(DVec3::Y).length() < 1e-6 { DVec3::NEG_Z } else { DVec3::Y };
    let right = up.cross(back).normalize_or(DVec3::X);
    DMat4::from_cols(
        right.extend(0.0),
        back.cross(right).extend(0.0),
        back.extend(0.0),
        position.extend(1.0),
    )
}

/// Builds a scene step by step; `build` checks it.
#[derive(Clone, Debug, Default)]
pub struct SceneBuilder {
    scene: Scene,
    /// The first invalid light.
    refused: Option<SceneError>,
}

impl SceneBuilder {
    /// An empty scene.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self { scene: Scene { name: name.to_owned(), ..Scene::default() }, refused: None }
    }

    /// Adds a material.
    pub fn add_material(&mut self, material: Material) -> MaterialId {
        self.scene.materials.push(material);
        MaterialId(self.scene.materials.len() - 1)
    }

    /// Adds an image with a sampler, as a texture.
    pub fn add_texture(
        &mut self,
        name: &str,
        picture: TextureImage,
        sampler: Sampler,
    ) -> TextureId {
        let TextureImage { width, height, rgba8 } = picture;
        self.scene.images.push(Image {
            name: name.to_owned(),
            width,
            height,
            rgba8: Arc::from(rgba8),
            is_error_pattern: false,
            compressed: None,
        });
        self.scene.textures.push(Texture { image: self.scene.images.len() - 1, sampler });
        TextureId(self.scene.textures.len() - 1)
    }

    /// A reference to a texture by UV set 0, without a transform.
    #[must_use]
    pub const fn texture_ref(texture: TextureId) -> TextureRef {
        TextureRef { texture: texture.0, uv_set: 0, transform: TextureRef::IDENTITY }
    }

    /// Adds a mesh of one primitive.
    pub fn add_mesh(&mut self, name: &str, primitive: Primitive, material: MaterialId) -> MeshId {
        self.add_mesh_of(name, vec![(primitive, material)])
    }

    /// Adds a mesh of several primitives.
    pub fn add_mesh_of(&mut self, name: &str, parts: Vec<(Primitive, MaterialId)>) -> MeshId {
        let primitives = parts
            .into_iter()
            .map(|(part, material)| Primitive { material: Some(material.0), ..part })
            .collect();
        self.scene.meshes.push(Mesh { name: name.to_owned(), primitives });
        MeshId(self.scene.meshes.len() - 1)
    }

    /// Adds an empty node as a root.
    pub fn add_node(&mut self, name: &str, local: DMat4) -> NodeId {
        self.scene.nodes.push(Node { name: name.to_owned(), local, ..Node::default() });
        let index = self.scene.nodes.len() - 1;
        self.scene.roots.push(index);
        NodeId(index)
    }

    /// Makes a root a child of `parent`. `build` reports whatever breaks the forest.
    pub fn set_parent(&mut self, child: NodeId, parent: NodeId) {
        self.scene.roots.retain(|&root| root != child.0);
        if let Some(node) = self.scene.nodes.get_mut(child.0) {
            node.parent = Some(parent.0);
        }
        if let Some(node) = self.scene.nodes.get_mut(parent.0) {
            node.children.push(child.0);
        }
    }

    /// Adds a root node with a mesh.
    pub fn instance(&mut self, name: &str, mesh: MeshId, transform: DMat4) -> NodeId {
        let node = self.add_node(name, transform);
        self.scene.nodes[node.0].mesh = Some(mesh.0);
        node
    }

    /// Adds a child node with a mesh.
    pub fn instance_in(
        &mut self,
        parent: NodeId,
        name: &str,
        mesh: MeshId,
        transform: DMat4,
    ) -> NodeId {
        let node = self.instance(name, mesh, transform);
        self.set_parent(node, parent);
        node
    }

    /// Adds a light at `pose` (see `look_at_transform`). `build` reports what `PhysicalLight::new`
    /// rejects.
    pub fn light(
        &mut self,
        name: &str,
        emitter: Emitter,
        strength: LightStrength,
        color: Vec3,
        pose: DMat4,
    ) -> NodeId {
        match PhysicalLight::new(emitter, strength) {
            Ok(source) => self.scene.lights.push(Light { color, ..Light::new(name, source) }),
            Err(error) => {
                self.refused
                    .get_or_insert_with(|| SceneError::Light { name: name.to_owned(), error });
                return self.add_node(name, pose);
            }
        }
        let node = self.add_node(name, pose);
        self.scene.nodes[node.0].light = Some(self.scene.lights.len() - 1);
        node
    }

    /// Adds a point light of a flux; `color` is linear and should have luminance 1 (`black_body`,
    /// or white).
    pub fn point_light_lumens(
        &mut self,
        name: &str,
        flux: Lumen,
        color: Vec3,
        position: DVec3,
    ) -> NodeId {
        self.point_light_candela(name, point_intensity(flux), color, position)
    }

    /// Adds a point light of an intensity.
    pub fn point_light_candela(
        &mut self,
        name: &str,
        intensity: Candela,
        color: Vec3,
        position: DVec3,
    ) -> NodeId {
        let pose = DMat4::from_translation(position);
        self.light(name, Emitter::Point, LightStrength::Candela(intensity), color, pose)
    }

    /// Adds a spot light of a flux at `pose` (see `look_at_transform`) with the half angles (inner,
    /// outer) in rad.
    pub fn spot_light_lumens(
        &mut self,
        name: &str,
        flux: Lumen,
        color: Vec3,
        half_angles: (f64, f64),
        pose: DMat4,
    ) -> NodeId {
        let (inner, outer) = half_angles;
        let cone = match Cone::new(inner, outer) {
            Ok(cone) => cone,
            Err(error) => {
                self.refused
                    .get_or_insert_with(|| SceneError::Light { name: name.to_owned(), error });
                return self.add_node(name, pose);
            }
        };
        let emitter = Emitter::Spot { cone, flux: SpotFlux::Exact };
        self.light(name, emitter, LightStrength::Lumens(flux), color, pose)
    }

    /// Adds parallel light along `direction` that gives `illuminance` on a surface that faces it.
    pub fn sun(&mut self, name: &str, illuminance: Lux, color: Vec3, direction: DVec3) -> NodeId {
        let pose = look_at_transform(DVec3::ZERO, direction);
        self.light(name, Emitter::PARALLEL, LightStrength::Lux(illuminance), color, pose)
    }

    /// Adds a perspective camera; the field of view is vertical, in rad.
    pub fn camera(
        &mut self,
        name: &str,
        position: DVec3,
        target: DVec3,
        vertical_fov: f32,
        aspect: Option<f32>,
    ) -> NodeId {
        let projection = Projection::Perspective { vertical_fov, aspect, near: 0.01, far: None };
        self.scene.cameras.push(Camera { name: name.to_owned(), projection });
        let node = self.add_node(name, look_at_transform(position, target));
        self.scene.nodes[node.0].camera = Some(self.scene.cameras.len() - 1);
        node
    }

    /// Checks and returns the scene.
    ///
    /// # Errors
    /// The first broken invariant of the scene model.
    pub fn build(self) -> Result<Scene, SceneError> {
        if let Some(error) = self.refused {
            return Err(error);
        }
        check(&self.scene)?;
        Ok(self.scene)
    }
}

/// Checks every invariant that `model` promises.
///
/// # Errors
/// The first broken one.
pub fn check(scene: &Scene) -> Result<(), SceneError> {
    for &root in &scene.roots {
        in_range(|| "roots".to_owned(), Some(root), scene.nodes.len())?;
        if scene.nodes[root].parent.is_some() {
            return Err(SceneError::Hierarchy(root));
        }
    }
    check_nodes(scene)?;
    for (index, mesh) in scene.meshes.iter().enumerate() {
        for (part, primitive) in mesh.primitives.iter().enumerate() {
            check_primitive(scene, primitive, || format!("mesh {index} primitive {part}"))?;
        }
    }
    for (index, material) in scene.materials.iter().enumerate() {
        check_material(scene, material, || format!("material {index}"))?;
    }
    for (index, texture) in scene.textures.iter().enumerate() {
        in_range(|| format!("texture {index}"), Some(texture.image), scene.images.len())?;
    }
    for (index, image) in scene.images.iter().enumerate() {
        let bytes = image.width as usize * image.height as usize * 4;
        if bytes == 0 || image.rgba8.len() != bytes {
            return Err(SceneError::Length(format!("image {index}")));
        }
    }
    for (index, light) in scene.lights.iter().enumerate() {
        let range = light.range.is_none_or(|range| range.is_finite() && range > 0.0);
        require(range && light.color.is_finite(), || format!("light {index}"))?;
    }
    for (index, camera) in scene.cameras.iter().enumerate() {
        let sound = match camera.projection {
            Projection::Perspective { vertical_fov, aspect, near, far } => {
                vertical_fov > 0.0
                    && vertical_fov < std::f32::consts::PI
                    && near.is_finite()
                    && near > 0.0
                    && aspect.is_none_or(|aspect| aspect.is_finite() && aspect > 0.0)
                    && far.is_none_or(|far| far.is_finite() && far > near)
            }
            Projection::Orthographic { half_width, half_height, near, far } => {
                [half_width, half_height, near, far].iter().all(|number| number.is_finite())
                    && half_width != 0.0
                    && half_height != 0.0
                    && far > near
            }
        };
        require(sound, || format!("camera {index}"))?;
    }
    Ok(())
}

fn check_nodes(scene: &Scene) -> Result<(), SceneError> {
    let mut met = vec![false; scene.nodes.len()];
    for (index, node) in scene.nodes.iter().enumerate() {
        let place = || format!("node {index}");
        in_range(place, node.mesh, scene.meshes.len())?;
        in_range(place, node.light, scene.lights.len())?;
        in_range(place, node.camera, scene.cameras.len())?;
        in_range(place, node.parent, scene.nodes.len())?;
        require(node.local.is_finite() && node.local.row(3) == glam::DVec4::W, place)?;
        for &child in &node.children {
            in_range(place, Some(child), scene.nodes.len())?;
            if scene.nodes[child].parent != Some(index) || met[child] {
                return Err(SceneError::Hierarchy(child));
            }
            met[child] = true;
        }
    }
    // Every node has at most one parent, so a node that no root reaches is on a cycle.
    let mut open: Vec<usize> =
        (0..scene.nodes.len()).filter(|&index| scene.nodes[index].parent.is_none()).collect();
    let mut reached = vec![false; scene.nodes.len()];
    while let Some(index) = open.pop() {
        reached[index] = true;
        open.extend(&scene.nodes[index].children);
    }
    reached
        .iter()
        .position(|reached| !reached)
        .map_or(Ok(()), |index| Err(SceneError::Hierarchy(index)))
}

fn check_primitive(
    scene: &Scene,
    part: &Primitive,
    place: impl Fn() -> String,
) -> Result<(), SceneError> {
    let count = part.positions.len();
    let fits = |length: usize| length == 0 || length == count;
    let lengths = part.indices.len().is_multiple_of(3)
        && part.normals.len() == count
        && [part.tangents.len(), part.uv0.len(), part.uv1.len(), part.colors.len()]
            .into_iter()
            .all(fits);
    if !lengths {
        return Err(SceneError::Length(place()));
    }
    in_range(&place, part.material, scene.materials.len())?;
    in_range(&place, part.indices.iter().max().map(|&index| index as usize), count)?;
    let finite = part.positions.iter().all(|value| value.is_finite())
        && part.uv0.iter().chain(&part.uv1).all(|value| value.is_finite())
        && part.colors.iter().all(|value| value.is_finite());
    require(finite, &place)?;
    let unit = |direction: Vec3| (direction.length_squared() - 1.0).abs() < 1e-3;
    let directions = part.normals.iter().all(|&normal| unit(normal))
        && part.tangents.iter().all(|tangent| unit(tangent.truncate()) && tangent.w.abs() == 1.0);
    if directions { Ok(()) } else { Err(SceneError::Direction(place())) }
}

fn check_material(
    scene: &Scene,
    material: &Material,
    place: impl Fn() -> String,
) -> Result<(), SceneError> {
    for texture in material.textures().into_iter().filter_map(|(_, texture)| texture) {
        in_range(&place, Some(texture.texture), scene.textures.len())?;
        let sound = texture.uv_set <= 1
            && texture.transform.iter().flatten().all(|number| number.is_finite());
        require(sound, &place)?;
    }
    let unit = |number: f32| (0.0..=1.0).contains(&number);
    let sound = material.base_color.to_array().into_iter().all(unit)
        && unit(material.metallic)
        && unit(material.roughness)
        && unit(material.occlusion_strength)
        && material.normal_scale.is_finite()
        && material.emission.is_finite()
        && material.emission.min_element() >= 0.0
        && material.ior.is_finite()
        && (material.ior >= 1.0 || material.ior == 0.0)
        && unit(material.transmission)
        && material.volume.thickness.is_finite()
        && material.volume.thickness >= 0.0
        && material.volume.attenuation_distance > 0.0
        && material.volume.attenuation_color.to_array().into_iter().all(unit)
        && !matches!(material.alpha, AlphaMode::Mask { cutoff } if !cutoff.is_finite() || cutoff < 0.0);
    require(sound, &place)
}

fn require(sound: bool, place: impl Fn() -> String) -> Result<(), SceneError> {
    if sound { Ok(()) } else { Err(SceneError::Number(place())) }
}

fn in_range(
    place: impl Fn() -> String,
    index: Option<usize>,
    count: usize,
) -> Result<(), SceneError> {
    match index {
        Some(index) if index >= count => Err(SceneError::Index { place: place(), index, count }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::procedural::shapes;

    fn small() -> SceneBuilder {
        let mut builder = SceneBuilder::new("small");
        let gray = builder.add_material(dielectric("gray", Vec3::splat(0.18), 1.0));
        let cube = builder.add_mesh("cube", shapes::cuboid(Vec3::ONE), gray);
        let parent = builder.add_node("parent", DMat4::from_translation(DVec3::X));
        builder.instance_in(parent, "cube", cube, DMat4::IDENTITY);
        builder
    }

    #[test]
    fn the_flux_of_a_spot_is_the_integral_over_its_cone() {
        let (inner, outer) = (0.3_f64, 0.7_f64);
        let intensity = spot_intensity(Lumen(2000.0), inner, outer).get();
        let steps = 200_000;
        let flux: f64 = (0..steps)
            .map(|step| {
                let angle = outer * (f64::from(step) + 0.5) / f64::from(steps);
                let way =
                    ((angle.cos() - outer.cos()) / (inner.cos() - outer.cos())).clamp(0.0, 1.0);
                intensity * way * way * 2.0 * PI * angle.sin() * outer / f64::from(steps)
            })
            .sum();
        assert!((flux - 2000.0).abs() < 0.01, "{flux} lm");
    }

    #[test]
    fn a_bulb_of_806_lumens_has_64_candela() {
        assert!((point_intensity(Lumen(806.0)).get() - 64.139).abs() < 1e-3);
    }

    #[test]
    fn black_bodies_have_luminance_1_and_go_from_red_to_blue() {
        for kelvin in [1800.0, 2700.0, 4000.0, 5600.0, 6504.0, 10_000.0] {
            let rgb = black_body(Kelvin(kelvin));
            assert!((crate::photometry::color::luminance(rgb.as_dvec3()) - 1.0).abs() < 1e-4);
        }
        assert!(black_body(Kelvin(2700.0)).x > 2.0 * black_body(Kelvin(2700.0)).z);
        assert!(black_body(Kelvin(10_000.0)).z > 1.3 * black_body(Kelvin(10_000.0)).x);
        assert!((black_body(Kelvin(6504.0)) - Vec3::ONE).abs().max_element() < 0.06);
    }

    #[test]
    fn facing_looks_along_minus_z_with_y_up() {
        for target in
            [DVec3::new(3.0, -1.0, 2.0), DVec3::new(0.0, -5.0, 0.0), DVec3::new(0.0, 5.0, 0.0)]
        {
            let pose = look_at_transform(DVec3::ZERO, target);
            assert!(pose.transform_vector3(DVec3::NEG_Z).distance(target.normalize()) < 1e-12);
            assert!((pose.determinant() - 1.0).abs() < 1e-12);
            assert!(pose.transform_vector3(DVec3::Y).y > -1e-12);
        }
    }

    #[test]
    fn a_built_scene_is_sound_and_shown() {
        let scene = small().build().unwrap();
        assert_eq!(scene.instanced_triangles(), 12);
        assert_eq!(scene.bounds().unwrap().0, DVec3::new(0.5, -0.5, -0.5));
        assert_eq!(scene.roots, [0]);
    }

    #[test]
    fn broken_invariants_are_named() {
        let good = small().build().unwrap();
        let broken = |change: fn(&mut Scene)| {
            let mut scene = good.clone();
            change(&mut scene);
            check(&scene).unwrap_err()
        };
        assert!(matches!(
            broken(|s| s.nodes[1].mesh = Some(7)),
            SceneError::Index { index: 7, count: 1, .. }
        ));
        assert!(matches!(broken(|s| s.nodes[0].parent = Some(1)), SceneError::Hierarchy(0)));
        assert!(matches!(
            broken(|s| s.meshes[0].primitives[0].normals[0] *= 2.0),
            SceneError::Direction(_)
        ));
        assert!(matches!(
            broken(|s| s.meshes[0].primitives[0].positions[0].x = f32::NAN),
            SceneError::Number(_)
        ));
        assert!(matches!(
            broken(|s| s.meshes[0].primitives[0].uv0.truncate(1)),
            SceneError::Length(_)
        ));
        assert!(matches!(
            broken(|s| s.meshes[0].primitives[0].indices[0] = 99),
            SceneError::Index { .. }
        ));
        assert!(matches!(broken(|s| s.materials[0].roughness = 1.5), SceneError::Number(_)));
    }

    #[test]
    fn a_ring_of_nodes_is_refused() {
        let mut builder = SceneBuilder::new("ring");
        let a = builder.add_node("a", DMat4::IDENTITY);
        let b = builder.add_node("b", DMat4::IDENTITY);
        builder.set_parent(a, b);
        builder.set_parent(b, a);
        assert!(matches!(builder.build(), Err(SceneError::Hierarchy(_))));
    }
}
