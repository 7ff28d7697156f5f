#!/usr/bin/env python3
"""Reference pictures of cases by Cycles (Blender as a Python module).

    python cycles_case.py validation/cases/grid_sun [more cases]

Writes cycles.exr into each case: RGB, half floats (32 bits where values are beyond those), 1.0 is one nit.

Settings and why:
- the Principled BSDF with distribution GGX (its default MULTI_GGX adds what single scattering loses: up to 80 % on rough metals),
  F82 tint 1, which makes its metals Schlick's, hence glTF's, exactly. Its dielectric is not glTF's: Fresnel's equations for 1.5
  instead of Schlick's curve from 0.04, and a base that is dimmed by the directional albedo of what lies over it, not by
  1 - F(v.h). Metallic mixes the two as glTF does;
- no clamps, no filter of glossy light, no light threshold, no adaptive sampling, no denoiser, box filter of one pixel, no light
  tree's cut, bounces as the case says (Cycles counts those after the first surface), no caustics left out;
- lamps: a point of 4 pi W per cd with radius 0, a sun of lx and angle 0; spots have glTF's falloff by a node tree over a lamp that is
  a point; glowing triangles shine from their front alone, by Backfacing; a world of strength 1 is one nit, sampled without
  the sun's extraction;
- shapes of lamps are meshes of the same size: 256 corners, as large as the circle.
"""

import math
import os
import sys
import tempfile
import time

import bpy
import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import case_scene


def matrix(pose):
    # glTF's y is Blender's z; cameras and lamps look along their -z in both.
    turn = np.array([[1, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]], float)
    from mathutils import Matrix

    return Matrix((turn @ pose).tolist())


def turned(points):
    return np.stack([points[:, 0], -points[:, 2], points[:, 1]], 1)


def emission_tree(nodes, links, shader, strength):
    """What glows from its front: emission there, black behind."""
    glow = nodes.new("ShaderNodeEmission")
    peak = max(strength)
    glow.inputs["Color"].default_value = [*(s / peak for s in strength), 1]
    glow.inputs["Strength"].default_value = peak
    dark = nodes.new("ShaderNodeEmission")
    dark.inputs["Strength"].default_value = 0.0
    side = nodes.new("ShaderNodeNewGeometry")
    front = nodes.new("ShaderNodeMixShader")
    links.new(side.outputs["Backfacing"], front.inputs["Fac"])
    links.new(glow.outputs[0], front.inputs[1])
    links.new(dark.outputs[0], front.inputs[2])
    if shader is None:
        return front.outputs[0]
    both = nodes.new("ShaderNodeAddShader")
    links.new(front.outputs[0], both.inputs[0])
    links.new(shader, both.inputs[1])
    return both.outputs[0]


def material(about):
    made = bpy.data.materials.new(about.name or "material")
    made.use_nodes = True
    nodes, links = made.node_tree.nodes, made.node_tree.links
    nodes.clear()
    out = nodes.new("ShaderNodeOutputMaterial")
    assert about.transmission == 0
    surface = nodes.new("ShaderNodeBsdfPrincipled")
    surface.distribution = "GGX"
    surface.inputs["Base Color"].default_value = [*about.base, 1]
    surface.inputs["Metallic"].default_value = about.metallic
    surface.inputs["Roughness"].default_value = about.roughness
    surface.inputs["IOR"].default_value = about.ior
    surface.inputs["Specular Tint"].default_value = [1, 1, 1, 1]
    shader = surface.outputs[0]
    if max(about.emission) > 0:
        shader = emission_tree(nodes, links, None if max(about.base) == 0 else shader, about.emission)
    links.new(shader, out.inputs["Surface"])
    made.cycles.emission_sampling = "FRONT"
    return made


def add_mesh(name, positions, normals, triangles, made):
    data = bpy.data.meshes.new(name)
    data.from_pydata(turned(positions).tolist(), [], triangles.tolist())
    data.materials.append(made)
    if normals is not None:
        data.polygons.foreach_set("use_smooth", [True] * len(triangles))
        data.normals_split_custom_set_from_vertices(turned(normals).tolist())
    data.update()
    bpy.context.scene.collection.objects.link(bpy.data.objects.new(name, data))


def disk(radius, corners=256):
    step = 2 * math.pi / corners
    radius *= math.sqrt(step / math.sin(step))
    angle = np.arange(corners) * step
    ring = np.stack([radius * np.cos(angle), radius * np.sin(angle), np.zeros(corners)], 1)
    points = np.concatenate([[[0.0, 0, 0]], ring])
    after = np.roll(np.arange(corners), -1)
    # The front faces -z.
    return points, np.stack([np.zeros(corners, int), after + 1, np.arange(corners) + 1], 1)


def ball(radius, around=192, rings=96):
    polar, angle = np.arange(rings + 1) * math.pi / rings, np.arange(around) * 2 * math.pi / around
    p, a = np.meshgrid(polar, angle, indexing="ij")
    points = np.stack([np.sin(p) * np.cos(a), np.sin(p) * np.sin(a), np.cos(p)], -1).reshape(-1, 3)
    faces = []
    for i in range(rings):
        x, y = i * around + np.arange(around), i * around + np.roll(np.arange(around), -1)
        faces += [np.stack([x, x + around, y], 1), np.stack([y, x + around, y + around], 1)]
    faces = np.concatenate(faces)
    p = points[faces]
    area = np.linalg.norm(np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]), axis=1)
    faces = faces[area > 1e-12]
    # As much surface as the ball.
    total = area.sum() / 2
    return points * radius * math.sqrt(4 * math.pi / total), faces


def add_lamp(lamp):
    scene = bpy.context.scene
    peak = float(lamp.strength.max())
    color = lamp.strength / peak
    if lamp.kind in ("sphere", "disk", "rectangle"):
        made = bpy.data.materials.new(lamp.name)
        made.use_nodes = True
        nodes, links = made.node_tree.nodes, made.node_tree.links
        nodes.clear()
        out = nodes.new("ShaderNodeOutputMaterial")
        links.new(emission_tree(nodes, links, None, list(lamp.strength)), out.inputs["Surface"])
        made.cycles.emission_sampling = "FRONT"
        if lamp.kind == "sphere":
            points, faces = ball(lamp.radius)
        elif lamp.kind == "disk":
            points, faces = disk(lamp.radius)
        else:
            w, h = lamp.width / 2, lamp.height / 2
            points = np.array([[-w, -h, 0], [w, -h, 0], [w, h, 0], [-w, h, 0]])
            faces = np.array([[0, 2, 1], [0, 3, 2]])
        add_mesh(lamp.name, points @ lamp.pose[:3, :3].T + lamp.pose[:3, 3], None, faces, made)
        return
    assert lamp.profile is None, "measured lamps are left to the other renderer"
    kind = {"point": "POINT", "spot": "POINT", "sun": "SUN"}[lamp.kind]
    data = bpy.data.lights.new(lamp.name, kind)
    data.color = list(color)
    data.use_shadow = True
    if kind == "SUN":
        data.energy, data.angle = peak, 0.0
    else:
        data.energy, data.shadow_soft_size = 4 * math.pi * peak, 0.0
    if lamp.kind == "spot":
        spot_tree(data, lamp)
    shown = bpy.data.objects.new(lamp.name, data)
    shown.matrix_world = matrix(lamp.pose)
    scene.collection.objects.link(shown)


def spot_tree(data, lamp):
    """clamp((cos - cos outer) / (cos inner - cos outer), 0, 1)^2 over a point's strength. In a lamp's tree the normal is the
    direction of the ray in the world's axes: its cosine to the axis, which goes from the lamp to what it lights."""
    data.use_nodes = True
    nodes, links = data.node_tree.nodes, data.node_tree.links
    glow = next(node for node in nodes if node.type == "EMISSION")
    about = nodes.new("ShaderNodeNewGeometry")
    dot = nodes.new("ShaderNodeVectorMath")
    dot.operation = "DOT_PRODUCT"
    axis = turned(-lamp.pose[:3, 2][None])[0]
    links.new(about.outputs["Incoming"], dot.inputs[0])
    dot.inputs[1].default_value = axis.tolist()
    ci, co = math.cos(lamp.inner), math.cos(lamp.outer)
    scale = nodes.new("ShaderNodeMapRange")
    scale.clamp = True
    links.new(dot.outputs["Value"], scale.inputs["Value"])
    scale.inputs["From Min"].default_value, scale.inputs["From Max"].default_value = co, ci
    square = nodes.new("ShaderNodeMath")
    square.operation = "POWER"
    links.new(scale.outputs["Result"], square.inputs[0])
    square.inputs[1].default_value = 2.0
    links.new(square.outputs[0], glow.inputs["Strength"])


def add_world(case, folder):
    world = bpy.data.worlds.new("around")
    bpy.context.scene.world = world
    world.use_nodes = True
    background = world.node_tree.nodes["Background"]
    background.inputs["Strength"].default_value = 0.0
    if case.surroundings is None:
        return
    nits = case.surroundings.resampled(1024, 512, rows_at_poles=False)
    image = bpy.data.images.new("around", 1024, 512, float_buffer=True, is_data=True)
    # Rows go up in Blender.
    pixels = np.concatenate([nits[::-1], np.ones((512, 1024, 1))], 2).astype(np.float32)
    image.pixels.foreach_set(pixels.ravel())
    image.filepath_raw, image.file_format = os.path.join(folder, "around.exr"), "OPEN_EXR"
    image.save()
    nodes, links = world.node_tree.nodes, world.node_tree.links
    texture = nodes.new("ShaderNodeTexEnvironment")
    texture.image = bpy.data.images.load(os.path.join(folder, "around.exr"))
    texture.image.colorspace_settings.name = "Non-Color"
    # Blender's map has its middle at -y... as turned, ours has it at glTF's -z, which is +y there.
    where, turn = nodes.new("ShaderNodeTexCoord"), nodes.new("ShaderNodeMapping")
    turn.inputs["Rotation"].default_value = (0, 0, math.radians(WORLD_TURN))
    links.new(where.outputs["Generated"], turn.inputs["Vector"])
    links.new(turn.outputs[0], texture.inputs[0])
    links.new(texture.outputs[0], background.inputs["Color"])
    background.inputs["Strength"].default_value = 1.0
    world.cycles.sampling_method, world.cycles.sample_map_resolution = "MANUAL", 1024
    if hasattr(world, "sun_threshold"):
        world.sun_threshold = 0


# Degrees about Blender's z from its map's middle (+x in Cycles' equirectangular mapping is at a quarter) to +y.
WORLD_TURN = 270.0


def add_camera(case):
    scene = bpy.context.scene
    data = bpy.data.cameras.new("Camera")
    data.clip_start, data.clip_end = 0.001, 1000.0
    data.sensor_fit = "VERTICAL"
    if case.camera.half_height is not None:
        data.type = "ORTHO"
        data.ortho_scale = 2 * case.camera.half_height
    else:
        data.angle_y = case.camera.fov
    assert case.camera.lens_radius == 0
    shown = bpy.data.objects.new("Camera", data)
    shown.matrix_world = matrix(case.camera.pose)
    scene.collection.objects.link(shown)
    scene.camera = shown


def settings(case, samples, seed):
    scene = bpy.context.scene
    render, cycles = scene.render, scene.cycles
    render.engine = "CYCLES"
    render.resolution_x, render.resolution_y, render.resolution_percentage = case.width, case.height, 100
    render.image_settings.file_format = "OPEN_EXR"
    render.image_settings.color_depth, render.image_settings.exr_codec = "32", "ZIP"
    render.image_settings.color_mode = "RGB"
    render.film_transparent = False
    scene.view_settings.view_transform = "Raw"
    cycles.device, cycles.samples, cycles.seed = "CPU", samples, seed
    cycles.use_adaptive_sampling, cycles.use_denoising = False, False
    cycles.pixel_filter_type, cycles.filter_width = "BOX", 1.0
    cycles.sample_clamp_direct, cycles.sample_clamp_indirect = 0.0, 0.0
    cycles.blur_glossy, cycles.light_sampling_threshold = 0.0, 0.0
    cycles.caustics_reflective = cycles.caustics_refractive = True
    bounces = case.bounces - 1
    cycles.max_bounces = cycles.diffuse_bounces = cycles.glossy_bounces = bounces
    cycles.transmission_bounces = bounces
    cycles.min_light_bounces = cycles.min_transparent_bounces = 0
    cycles.use_fast_gi = False
    render.threads_mode = "AUTO"


def main():
    arguments = sys.argv[1:]
    samples_wanted = next((int(a[6:]) for a in arguments if a.startswith("--spp=")), None)
    for name in [a for a in arguments if not a.startswith("--")]:
        bpy.ops.wm.read_factory_settings(use_empty=True)
        case = case_scene.load(name)
        about = case_scene.tomllib.loads((case.folder / "case.toml").read_text())
        made = next(r["made"] for r in about["reference"] if r["name"] == "cycles")
        samples = samples_wanted or int(made.split(" samples")[0].split()[-1])
        materials = {}
        for part in case.meshes:
            key = id(part.material)
            if key not in materials:
                materials[key] = material(part.material)
            add_mesh(part.name, part.positions, part.normals, part.triangles, materials[key])
        for lamp in case.lamps:
            add_lamp(lamp)
        with tempfile.TemporaryDirectory() as folder:
            add_world(case, folder)
            add_camera(case)
            settings(case, samples, 0)
            start = time.time()
            file = os.path.join(folder, "out.exr")
            bpy.context.scene.render.filepath = file
            bpy.ops.render.render(write_still=True)
            seconds = time.time() - start
            image = bpy.data.images.load(file)
            image.colorspace_settings.name = "Non-Color"
            pixels = np.empty(case.width * case.height * 4, np.float32)
            image.pixels.foreach_get(pixels)
            brightest = pixels.reshape(-1, 4)[:, :3].max()
            if brightest < 60_000:
                bpy.context.scene.render.image_settings.color_depth = "16"
            bpy.data.images["Render Result"].save_render(str(case.folder / "cycles.exr"))
            mean = pixels.reshape(-1, 4)[:, :3].mean()
        print(f"{case.name}: {samples} samples, {seconds:.1f} s, mean {mean:.6g}", flush=True)


if __name__ == "__main__":
    main()
