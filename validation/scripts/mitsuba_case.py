#!/usr/bin/env python3
"""Reference pictures of cases by Mitsuba 3, whose paths, samplers and lights are its own; the BRDF is written here.

    DRJIT_LIBLLVM_PATH=.../libLLVM.so.19.1 python mitsuba_case.py validation/cases/grid_sun [more cases]

Writes mitsuba.exr into each case: RGB, half floats (32 bits where values are beyond those), 1.0 is one nit. `--spp N` takes the place of the samples that the
case names.

Settings and why:
- the `path` integrator as deep as the case's bounces (one bounce: depth 2), Russian roulette from depth 8 on, box filter of one
  pixel, samples of the kind and number that the case's `made` tells: independent in chunks of 128 a pixel with a seed each, or
  multi-jittered in chunks of up to 1024: a highlight of a smooth ball is few pixels wide, and its mean is as noisy as where in
  the pixels the samples happen to lie;
- glTF's BRDF from its appendix B as a BSDF in Python: `principled` is 4 to 9 % off on dielectrics;
- the very triangles of the case, with interpolated normals, so that no renderer has rounder balls than another;
- lamps: point = cd, directional = lux, area = nit. A spot is a hard cone with the falloff that the file means as a projected
  texture, measured lamps likewise. Shapes that the look gives to lamps are Mitsuba's own rectangle, disk and sphere; a tube is a
  mesh of 256 facets around, as large as the circle;
- volumes: `volpath`, boxes with a `null` surface, `homogeneous` or `heterogeneous` with a trilinear `gridvolume` of the case's own voxels,
  `hg`; scattering counts as a surface there as here. A grid's extinction is grey, as `volpath` follows one channel;
- an environment map is sampled finer (bilinear, rows on the poles), for Mitsuba's grid of texels is another.
"""

import argparse
import os
import sys
import tempfile
import time

os.environ.setdefault("DRJIT_LIBLLVM_PATH", "/usr/lib/x86_64-linux-gnu/libLLVM.so.19.1")
import drjit as dr
import mitsuba as mi
import numpy as np

import case_scene

mi.set_variant("llvm_ad_rgb")
from mitsuba import ScalarTransform4f as T

CHUNK = {"independent": 128, "multi-jittered": 1024}
SAMPLER = {"independent": "independent", "multi-jittered": "multijitter"}


class Gltf(mi.BSDF):
    """(1-m)(F_d D V + (1-F_d) base/pi) + m F_m D V: F0 0.04 and base, F90 1, height-correlated Smith, alpha = roughness^2,
    at least 0.002 (what the renderers under test have as the smoothest). Both sides reflect. A shading normal that is turned
    from the eye is seen at grazing incidence; light from below the triangle is none."""

    def __init__(self, props):
        mi.BSDF.__init__(self, props)
        self.base = mi.Color3f(props["base_color"])
        self.metallic = mi.Float(props["metallic"])
        self.alpha = mi.Float(max(props["roughness"] ** 2, 0.002))
        # Not literals: balls of many materials then share one piece of compiled code.
        dr.make_opaque(self.base, self.metallic, self.alpha)
        both = mi.BSDFFlags.FrontSide | mi.BSDFFlags.BackSide
        flags = mi.BSDFFlags.DiffuseReflection | mi.BSDFFlags.GlossyReflection | both
        self.m_components = [flags]
        self.m_flags = flags

    def side(self, si):
        return dr.select(dr.dot(si.n, si.to_world(si.wi)) >= 0, mi.Float(1), mi.Float(-1))

    def seen(self, si, side):
        wi = mi.Vector3f(si.wi.x, si.wi.y, si.wi.z * side)
        flat = dr.normalize(mi.Vector3f(wi.x, wi.y, 1e-4))
        return dr.select(wi.z >= 1e-4, wi, flat)

    def above(self, si, side, wo):
        """Whether a direction (shading frame, not turned) lies above the triangle on the seen side."""
        return dr.dot(si.n, si.to_world(wo)) * side > 0

    def lambdas(self, w):
        a2 = dr.square(self.alpha)
        return 0.5 * (dr.sqrt(1 + a2 * (dr.square(w.x) + dr.square(w.y)) / dr.square(w.z)) - 1)

    def ndf(self, h):
        a2 = dr.square(self.alpha)
        return a2 / (dr.pi * dr.square(dr.square(h.x) + dr.square(h.y) + a2 * dr.square(h.z)))

    def value(self, wi, wo):
        h = dr.normalize(wi + wo)
        # D V with V = G2 / (4 cos cos), times the cosine of wo.
        dv = self.ndf(h) / (1 + self.lambdas(wi) + self.lambdas(wo)) / (4 * wi.z)
        w = dr.power(dr.clip(1 - dr.dot(wi, h), 0, 1), 5)
        fd = 0.04 + 0.96 * w
        fm = self.base + (1 - self.base) * w
        m = self.metallic
        return (1 - m) * (fd * dv + (1 - fd) * self.base * dr.inv_pi * wo.z) + m * fm * dv

    def mirror_share(self):
        return dr.clip(0.35 + 0.65 * self.metallic, 0, 1)

    def density(self, wi, wo):
        h = dr.normalize(wi + wo)
        visible = self.ndf(h) / (4 * wi.z * (1 + self.lambdas(wi)))
        share = self.mirror_share()
        return share * visible + (1 - share) * wo.z * dr.inv_pi

    def eval(self, ctx, si, wo, active):
        return self.eval_pdf(ctx, si, wo, active)[0]

    def pdf(self, ctx, si, wo, active):
        return self.eval_pdf(ctx, si, wo, active)[1]

    def eval_pdf(self, ctx, si, wo, active):
        side = self.side(si)
        wi, out = self.seen(si, side), mi.Vector3f(wo.x, wo.y, wo.z * side)
        active = active & (out.z > 0) & self.above(si, side, wo)
        return (
            dr.select(active, self.value(wi, out), mi.Color3f(0)),
            dr.select(active, self.density(wi, out), 0),
        )

    def sample(self, ctx, si, sample1, sample2, active):
        side = self.side(si)
        wi = self.seen(si, side)
        normals = mi.MicrofacetDistribution(mi.MicrofacetType.GGX, self.alpha, True)
        h, _ = normals.sample(wi, sample2)
        mirrored = 2 * dr.dot(wi, h) * h - wi
        out = dr.select(sample1 < self.mirror_share(), mirrored, mi.warp.square_to_cosine_hemisphere(sample2))
        wo = mi.Vector3f(out.x, out.y, out.z * side)
        ok = active & (out.z > 0) & self.above(si, side, wo)
        bs = mi.BSDFSample3f()
        bs.wo = wo
        bs.pdf = dr.select(ok, self.density(wi, out), 0)
        bs.eta = 1.0
        bs.sampled_component = 0
        bs.sampled_type = mi.UInt32(+mi.BSDFFlags.GlossyReflection)
        value = self.value(wi, out) / dr.maximum(bs.pdf, 1e-20)
        return bs, dr.select(ok & (bs.pdf > 0), value, mi.Color3f(0))

    def traverse(self, callback):
        pass

    def to_string(self):
        return "Gltf[]"


mi.register_bsdf("gltf", lambda props: Gltf(props))


def bsdf(material):
    if material.transmission > 0:
        return glass(material)
    return {
        "type": "gltf",
        "base_color": mi.ScalarColor3f(material.base),
        "metallic": material.metallic,
        "roughness": material.roughness,
    }


def rgb(values):
    return {"type": "rgb", "value": [float(v) for v in values]}


def glass(material):
    """Clear or rough glass as Mitsuba has it; absorption is a medium's, which `shape` adds."""
    assert material.transmission == 1 and material.metallic == 0
    if material.roughness == 0:
        if material.thickness == 0:
            return {"type": "thindielectric", "int_ior": material.ior, "specular_transmittance": rgb(material.base)}
        return {"type": "dielectric", "int_ior": material.ior}
    return {"type": "roughdielectric", "int_ior": material.ior, "distribution": "ggx", "alpha": material.roughness**2}


def mesh(part):
    out = mi.Mesh(part.name or "mesh", len(part.positions), len(part.triangles), has_vertex_normals=True)
    parameters = mi.traverse(out)
    parameters["vertex_positions"] = part.positions.astype(np.float32).ravel()
    parameters["vertex_normals"] = part.normals.astype(np.float32).ravel()
    parameters["faces"] = part.triangles.astype(np.uint32).ravel()
    parameters.update()
    return out


class Folder:
    """Meshes travel to the scene as files."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.count = 0

    def ply(self, made, **more):
        self.count += 1
        file = os.path.join(self.folder.name, f"{self.count}.ply")
        made.write_ply(file)
        return {"type": "ply", "filename": file, **more}


def capsule(half, radius, around=256, rings=64):
    """A tube with round ends along x; its cross-section is a polygon as large as the circle."""
    step = 2 * np.pi / around
    radius = radius * np.sqrt(step / np.sin(step))
    polar = np.concatenate([np.linspace(0, np.pi / 2, rings + 1), np.linspace(np.pi / 2, np.pi, rings + 1)])
    x = np.where(np.arange(len(polar)) <= rings, -half, half) - radius * np.cos(polar)
    r = radius * np.sin(polar)
    angle = np.arange(around) * step
    ring = lambda values: (r[:, None] * values).ravel()
    points = np.stack([np.repeat(x, around), ring(np.cos(angle)), ring(np.sin(angle))], 1)
    faces = []
    for i in range(len(polar) - 1):
        a, b = i * around + np.arange(around), i * around + (np.arange(around) + 1) % around
        faces += [np.stack([a, a + around, b], 1), np.stack([b, a + around, b + around], 1)]
    faces = np.concatenate(faces)
    p = points[faces]
    out = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
    middle = p.mean(1)
    middle[:, 0] -= np.clip(middle[:, 0], -half, half)
    wrong = (out * middle).sum(1) < 0
    faces[wrong] = faces[wrong][:, ::-1]
    made = mi.Mesh("capsule", len(points), len(faces))
    parameters = mi.traverse(made)
    parameters["vertex_positions"] = points.astype(np.float32).ravel()
    parameters["faces"] = faces.astype(np.uint32).ravel()
    parameters.update()
    return made


def angular(lamp, candela_over_peak, edge):
    """A hard cone, a little wider than `edge` (rad), with a texture of the intensity over the greatest, by angle."""
    size, cutoff = 2048, edge * 1.02
    place = (np.arange(size) + 0.5) / size * 2 - 1
    x, y = np.meshgrid(place, place)
    angle = np.arctan(np.hypot(x, y) * np.tan(cutoff))
    values = np.repeat(candela_over_peak(angle)[..., None], 3, 2).astype(np.float32)
    # The lamp looks along its -z; Mitsuba's spot along +z.
    pose = T(lamp.pose @ np.diag([-1.0, 1.0, -1.0, 1.0]))
    return {
        "type": "spot",
        "to_world": pose,
        "intensity": rgb(lamp.strength),
        "cutoff_angle": float(np.degrees(cutoff)),
        "beam_width": float(np.degrees(cutoff) * 0.9999),
        "texture": {"type": "bitmap", "bitmap": mi.Bitmap(values), "raw": True, "wrap_mode": "clamp"},
    }


def emitter(lamp, folder, in_media):
    place = lamp.pose[:3, 3]
    if lamp.profile is not None:
        angles, shape = lamp.profile
        edge = angles[np.nonzero(shape)[0][-1] + 1]
        return angular(lamp, lambda angle: np.interp(angle, angles, shape, right=0.0), edge)
    if lamp.kind == "point":
        return {"type": "point", "position": list(place), "intensity": rgb(lamp.strength)}
    if lamp.kind == "spot":
        ci, co = np.cos(lamp.inner), np.cos(lamp.outer)
        return angular(lamp, lambda angle: np.clip((np.cos(angle) - co) / (ci - co), 0, 1) ** 2, lamp.outer)
    if lamp.kind == "sun":
        return {"type": "directional", "direction": list(-lamp.pose[:3, 2]), "irradiance": rgb(lamp.strength)}
    shine = {"type": "area", "radiance": rgb(lamp.strength)}
    # In the renderer under test no lamp is in the way of light. Within haze that is seen (0.9 % of all light, 1.7 % beside the lamp),
    # and `volpath` walks on through `null`; elsewhere `path` needs a body, and nothing lies behind lamps.
    body = {"type": "null"} if in_media else {"type": "diffuse", "reflectance": rgb([0, 0, 0])}
    more = {"light": shine, "bsdf": body}
    # Mitsuba's flat shapes face +z, the lamp shines along -z.
    turned = T(lamp.pose @ np.diag([-1.0, 1.0, -1.0, 1.0]))
    if lamp.kind == "sphere":
        return {"type": "sphere", "center": list(place), "radius": lamp.radius, **more}
    if lamp.kind == "disk":
        return {"type": "disk", "to_world": turned @ T().scale([lamp.radius, lamp.radius, 1]), **more}
    if lamp.kind == "rectangle":
        return {"type": "rectangle", "to_world": turned @ T().scale([lamp.width / 2, lamp.height / 2, 1]), **more}
    assert lamp.kind == "tube", lamp.kind
    made = capsule(lamp.length / 2, lamp.radius)
    return folder.ply(made, to_world=T(lamp.pose), face_normals=True, **more)


def shape(part, folder):
    more = {"bsdf": bsdf(part.material)}
    if max(part.material.emission) > 0:
        more["light"] = {"type": "area", "radiance": rgb(part.material.emission)}
    if part.material.transmission > 0 and np.isfinite(part.material.attenuation_distance):
        # Beer's law: all light that the medium takes is gone.
        sigma = -np.log(np.array(part.material.attenuation_color)) / part.material.attenuation_distance
        # Colours stay within 0 to 1, the scale does not.
        more["interior"] = {"type": "homogeneous", "albedo": 0.0, "sigma_t": rgb(sigma / sigma.max()), "scale": float(sigma.max())}
    return folder.ply(mesh(part), **more)


def medium(volume):
    """A box that lets all light in and out, with what fills it. Mitsuba's cube has sides of 2, its grids lie from 0 to 1."""
    extinction = volume.absorption + volume.scattering
    albedo = volume.scattering / extinction
    most = float(extinction.max())
    inside = {"albedo": rgb(albedo), "scale": most, "phase": {"type": "hg", "g": volume.anisotropy}}
    if volume.grid is None:
        inside |= {"type": "homogeneous", "sigma_t": rgb(extinction / most)}
    else:
        # `volpath` follows one channel through a grid: unbiased where all are dimmed alike.
        assert np.ptp(extinction) < 1e-9 * most, "the extinction of a grid is grey here"
        grid = mi.VolumeGrid(volume.grid.astype(np.float32)[..., None])
        pose = T(volume.pose) @ T().translate([-0.5, -0.5, -0.5])
        density = {"type": "gridvolume", "grid": grid, "to_world": pose, "raw": True, "filter_type": "trilinear", "wrap_mode": "clamp"}
        inside |= {"type": "heterogeneous", "sigma_t": density}
    return {"type": "cube", "to_world": T(volume.pose) @ T().scale(0.5), "bsdf": {"type": "null"}, "interior": inside}


def camera(case, kind, samples):
    pose = case.camera.pose
    # Ours looks along -z with x to the right, Mitsuba's along +z with x to the left.
    to_world = T(pose @ np.diag([-1.0, 1.0, -1.0, 1.0]))
    film = {
        "type": "hdrfilm",
        "width": case.width,
        "height": case.height,
        "rfilter": {"type": "box"},
        "pixel_format": "rgb",
        "component_format": "float32",
    }
    common = {"film": film, "sampler": {"type": SAMPLER[kind], "sample_count": samples}, "near_clip": 0.001, "far_clip": 1000.0}
    if case.camera.half_height is not None:
        half_width = case.camera.half_height * case.width / case.height
        return {"type": "orthographic", "to_world": to_world @ T().scale([half_width, half_width, 1]), **common}
    common |= {"to_world": to_world, "fov": float(np.degrees(case.camera.fov)), "fov_axis": "y"}
    if case.camera.lens_radius > 0:
        lens = {"aperture_radius": case.camera.lens_radius, "focus_distance": case.camera.focus}
        return {"type": "thinlens", **lens, **common}
    return {"type": "perspective", **common}


def scene(case, folder, kind, samples):
    media = case.media or any(np.isfinite(part.material.attenuation_distance) for part in case.meshes)
    walk = {"type": "volpath" if media else "path", "max_depth": case.bounces + 1, "rr_depth": 8}
    out = {"type": "scene", "integrator": walk, "sensor": camera(case, kind, samples)}
    for index, part in enumerate(case.meshes):
        out[f"mesh{index}"] = shape(part, folder)
    for index, volume in enumerate(case.media):
        out[f"medium{index}"] = medium(volume)
    for index, lamp in enumerate(case.lamps):
        out[f"lamp{index}"] = emitter(lamp, folder, bool(case.media))
    if case.surroundings is not None:
        nits = case.surroundings.resampled(1024, 513, rows_at_poles=True).astype(np.float32)
        # Mitsuba's map has its middle at +z and turns the other way round: half a turn makes the two one.
        turn = T().rotate([0, 1, 0], 180)
        out["around"] = {"type": "envmap", "bitmap": mi.Bitmap(nits), "to_world": turn}
    return mi.load_dict(out)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("cases", nargs="+")
    parser.add_argument("--spp", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--name", default="mitsuba.exr")
    arguments = parser.parse_args()
    for name in arguments.cases:
        case = case_scene.load(name)
        about = case_scene.tomllib.loads((case.folder / "case.toml").read_text())
        made = [r["made"] for r in about["reference"] if r["name"] == "mitsuba"]
        number, kind = made[0].split(" samples")[0].split()[-2:]
        samples = arguments.spp or int(number)
        folder = Folder()
        chunk_size = min(CHUNK[kind], samples)
        loaded = scene(case, folder, kind, chunk_size)
        start, total = time.time(), 0.0
        chunks = samples // chunk_size
        for chunk in range(chunks):
            seed = arguments.seed * 100_000 + chunk
            total = total + np.array(mi.render(loaded, spp=chunk_size, seed=seed), dtype=np.float64)
        picture = (total / chunks).astype(np.float32)[..., :3]
        bitmap = mi.Bitmap(picture, mi.Bitmap.PixelFormat.RGB)
        # Highlights of a sun on smooth balls are beyond half floats.
        if picture.max() < 60_000:
            bitmap = bitmap.convert(mi.Bitmap.PixelFormat.RGB, mi.Struct.Type.Float16, False)
        bitmap.write(str(case.folder / arguments.name))
        print(f"{case.name}: {samples} samples, {time.time() - start:.1f} s, mean {picture.mean():.6g}", flush=True)


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    main()
