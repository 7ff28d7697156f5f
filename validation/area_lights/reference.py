#!/usr/bin/env python3
"""Reference pictures of area lights by Mitsuba 3, an independent path tracer.

    python3 -m venv venv && venv/bin/pip install mitsuba==3.9.1 numpy
    DRJIT_LIBLLVM_PATH=.../libLLVM.so.19.1 venv/bin/python reference.py [directory]

A row of five spheres (roughness 0.2, 0.4, 0.6, 0.8, 1; metallic 0 or 1) over a matte plane under one lamp of 1000 nit:
a rectangle, a disk, a sphere or a tube. Writes SHAPE_METALLIC.exr, 300x100, half floats: 1.0 is one nit.

Settings and why:
- direct light only (`direct` integrator, emitter and BSDF samples): what the lighting pass does, without bounces;
- shadows: the spheres and the plane do not shade each other in our picture here, so that `hide` rays are kept from
  them: each sphere and the plane are rendered apart, alone in the scene, and put together by depth (they do not
  overlap in the picture);
- the BSDF is glTF's, written here from its appendix B (`principled` is 4 to 9 % off on dielectrics);
- spheres are exact, a parallel camera, box filter of one pixel, 1024 samples a pixel in chunks of 256, multi-jittered: a
  highlight is few pixels wide, and its mean is as noisy as where the samples happen to lie;
- lights are shapes of exact form: rectangle, disk, sphere; the tube is a mesh of 256 facets around (a cylinder with
  two spheres in its ends leaks: rays to the spheres' inner halves pass the cylinder by the renderer's shadow offset).
"""
import os
import sys
import tempfile

os.environ.setdefault("DRJIT_LIBLLVM_PATH", "/usr/lib/x86_64-linux-gnu/libLLVM.so.19.1")
import drjit as dr
import mitsuba as mi
import numpy as np

mi.set_variant("llvm_ad_rgb")
from mitsuba import ScalarTransform4f as T

NITS = 1000.0
ROUGHNESS = [0.2, 0.4, 0.6, 0.8, 1.0]
BASE = [0.9, 0.5, 0.2]
WIDTH, HEIGHT = 300, 100
SAMPLES = int(os.environ.get("SPP", "1024"))
LAMP_AT = [0.8, 2.2, 1.5]
LAMP_TO = [0.0, 0.3, 0.0]


class Gltf(mi.BSDF):
    """(1-m)(F_d D V + (1-F_d) base/pi) + m F_m D V, F90 = 1, height-correlated Smith, alpha = roughness^2."""

    def __init__(self, props):
        mi.BSDF.__init__(self, props)
        self.base = mi.Color3f(props["base_color"])
        self.metallic = float(props["metallic"])
        self.alpha = float(props["roughness"]) ** 2
        flags = mi.BSDFFlags.DiffuseReflection | mi.BSDFFlags.GlossyReflection | mi.BSDFFlags.FrontSide
        self.m_components = [flags]
        self.m_flags = flags

    def lobes(self, wi, wo):
        h = dr.normalize(wi + wo)
        a2 = self.alpha * self.alpha
        d = a2 / (dr.pi * dr.square(dr.square(h.z) * (a2 - 1) + 1))
        gv = wo.z * dr.sqrt(dr.square(wi.z) * (1 - a2) + a2)
        gl = wi.z * dr.sqrt(dr.square(wo.z) * (1 - a2) + a2)
        return h, d, 0.5 / dr.maximum(gv + gl, 1e-12)

    def eval(self, ctx, si, wo, active):
        wi = si.wi
        active = active & (wi.z > 0) & (wo.z > 0)
        h, d, v = self.lobes(wi, wo)
        w = dr.power(dr.clip(1 - dr.dot(wi, h), 0, 1), 5)
        fd = 0.04 + 0.96 * w
        fm = self.base + (1 - self.base) * w
        m = self.metallic
        value = (1 - m) * (fd * d * v + (1 - fd) * self.base * dr.inv_pi) + m * fm * d * v
        return dr.select(active, value * wo.z, mi.Color3f(0))

    def pdf(self, ctx, si, wo, active):
        wi = si.wi
        active = active & (wi.z > 0) & (wo.z > 0)
        h, d, _ = self.lobes(wi, wo)
        lobe = d * h.z / (4 * dr.maximum(dr.dot(wi, h), 1e-9))
        return dr.select(active, 0.5 * lobe + 0.5 * wo.z * dr.inv_pi, 0)

    def sample(self, ctx, si, sample1, sample2, active):
        a2 = self.alpha * self.alpha
        t2 = a2 * sample2.x / dr.maximum(1 - sample2.x, 1e-7)
        z = dr.rsqrt(1 + t2)
        r = dr.sqrt(dr.maximum(1 - z * z, 0))
        s, c = dr.sincos(2 * dr.pi * sample2.y)
        h = mi.Vector3f(r * c, r * s, z)
        mirrored = 2 * dr.dot(si.wi, h) * h - si.wi
        wo = dr.select(sample1 < 0.5, mirrored, mi.warp.square_to_cosine_hemisphere(sample2))
        bs = mi.BSDFSample3f()
        bs.wo = wo
        bs.pdf = self.pdf(ctx, si, wo, active)
        bs.eta = 1.0
        bs.sampled_component = 0
        bs.sampled_type = mi.UInt32(+mi.BSDFFlags.GlossyReflection)
        ok = active & (bs.pdf > 0) & (wo.z > 0) & (si.wi.z > 0)
        value = self.eval(ctx, si, wo, ok) / dr.maximum(bs.pdf, 1e-20)
        return bs, dr.select(ok, value, mi.Color3f(0))

    def eval_pdf(self, ctx, si, wo, active):
        return self.eval(ctx, si, wo, active), self.pdf(ctx, si, wo, active)

    def traverse(self, callback):
        pass

    def to_string(self):
        return "Gltf[]"


mi.register_bsdf("gltf", lambda props: Gltf(props))


def lamp(shape):
    pose = T().look_at(origin=LAMP_AT, target=LAMP_TO, up=[0, 1, 0])
    light = {"type": "area", "radiance": {"type": "rgb", "value": NITS}}
    black = {"type": "diffuse", "reflectance": {"type": "rgb", "value": 0.0}}

    def part(kind, transform, **more):
        return {"type": kind, "to_world": transform, "light": light, "bsdf": black, **more}

    if shape == "rectangle":
        return {"lamp": part("rectangle", pose @ T().scale([0.8, 0.3, 1]))}
    if shape == "disk":
        return {"lamp": part("disk", pose @ T().scale([0.6, 0.6, 1]))}
    if shape == "sphere":
        return {"lamp": {"type": "sphere", "center": LAMP_AT, "radius": 0.5, "light": light, "bsdf": black}}
    mesh = capsule(0.9, 0.12)
    file = os.path.join(tempfile.gettempdir(), f"capsule_{os.getpid()}.ply")
    mesh.write_ply(file)
    return {"lamp": part("ply", pose, filename=file, face_normals=True)}


def capsule(half, radius, around=256, rings=64):
    """A tube with round ends along x; its cross-section is a polygon as large as the circle."""
    step = 2 * np.pi / around
    radius = radius * np.sqrt(step / np.sin(step))
    polar = np.concatenate([np.linspace(0, np.pi / 2, rings + 1), np.linspace(np.pi / 2, np.pi, rings + 1)])
    x = np.where(np.arange(len(polar)) <= rings, -half, half) - radius * np.cos(polar)
    r = radius * np.sin(polar)
    angle = np.arange(around) * step
    points = np.stack(
        [np.repeat(x, around), (r[:, None] * np.cos(angle)).ravel(), (r[:, None] * np.sin(angle)).ravel()], 1
    )
    faces = []
    for i in range(len(polar) - 1):
        a = i * around + np.arange(around)
        b = i * around + (np.arange(around) + 1) % around
        faces += [np.stack([a, a + around, b], 1), np.stack([b, a + around, b + around], 1)]
    faces = np.concatenate(faces)
    # Outward.
    p = points[faces]
    out = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
    middle = p.mean(1)
    middle[:, 0] -= np.clip(middle[:, 0], -half, half)
    wrong = (out * middle).sum(1) < 0
    faces[wrong] = faces[wrong][:, ::-1]
    mesh = mi.Mesh("capsule", len(points), len(faces))
    parameters = mi.traverse(mesh)
    parameters["vertex_positions"] = points.astype(np.float32).ravel()
    parameters["faces"] = faces.astype(np.uint32).ravel()
    parameters.update()
    return mesh


def camera():
    # Half a height of 1.2 m; Mitsuba's parallel camera spans 2 units across.
    half_height = 1.0
    half_width = half_height * WIDTH / HEIGHT
    pose = T().look_at(origin=[0, 1.5, 8], target=[0, 0.2, 0], up=[0, 1, 0]) @ T().scale([half_width, half_width, 1])
    return {
        "type": "orthographic",
        "to_world": pose,
        "near_clip": 0.01,
        "far_clip": 100.0,
        "film": {
            "type": "hdrfilm",
            "width": WIDTH,
            "height": HEIGHT,
            "rfilter": {"type": "box"},
            "pixel_format": "rgba",
        },
        "sampler": {"type": "multijitter", "sample_count": 256},
    }


def render(objects, shape):
    scene = {
        "type": "scene",
        "integrator": {"type": "direct", "emitter_samples": 1, "bsdf_samples": 1, "hide_emitters": True},
        "sensor": camera(),
        **lamp(shape),
        **objects,
    }
    scene = mi.load_dict(scene)
    total, chunk = None, 256
    for number in range(max(SAMPLES // chunk, 1)):
        part = np.array(mi.render(scene, spp=min(chunk, SAMPLES), seed=number), dtype=np.float64)
        total = part if total is None else total + part
    return total / max(SAMPLES // chunk, 1)


def material(metallic, roughness):
    return {"type": "gltf", "base_color": mi.ScalarColor3f(BASE), "metallic": metallic, "roughness": roughness}


def main(directory):
    for shape in os.environ.get("SHAPES", "rectangle disk sphere tube").split():
        for metallic in map(int, os.environ.get("METALLIC", "0 1").split()):
            balls = {
                f"ball{i}": {"type": "sphere", "center": [i - 2, 0.4, 0], "radius": 0.4, "bsdf": material(metallic, r)}
                for i, r in enumerate(ROUGHNESS)
            }
            # Spheres a metre apart are rendered one by one, so that none reflects or shades another.
            picture = np.zeros((HEIGHT, WIDTH, 4))
            for name, ball in balls.items():
                one = render({name: ball}, shape)
                picture += one
            plane = render(
                {
                    "plane": {
                        "type": "rectangle",
                        "to_world": T().rotate([1, 0, 0], -90) @ T().scale([4, 2, 1]),
                        "bsdf": {"type": "gltf", "base_color": mi.ScalarColor3f(0.5), "metallic": 0, "roughness": 1.0},
                    }
                },
                shape,
            )
            picture += plane * (1 - np.clip(picture[..., 3:4], 0, 1))
            file = os.path.join(directory, f"{shape}_{metallic}.exr")
            bitmap = mi.Bitmap(picture[..., :3].astype(np.float32), mi.Bitmap.PixelFormat.RGB)
            bitmap.convert(mi.Bitmap.PixelFormat.RGB, mi.Struct.Type.Float16, False).write(file)
            print(file, picture[..., :3].mean())


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__)))
