//! Structs shared by host and shaders have the same layout on both sides: every offset in every
//! SPIR-V module.

use sunny16::{
    gpu::{shader::Shader, shader_structs},
    gpu_scene::gi,
};

/// Shader compilers may name a type `Light_0` where a module has it with two decorations.
fn same_type(shader: &str, host: &str) -> bool {
    shader == host
        || shader.strip_prefix(host).is_some_and(|rest| {
            rest.strip_prefix('_').is_some_and(|number| {
                !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
            })
        })
}

#[test]
fn shaders_that_read_the_number_of_group_columns_are_known() {
    let reads = |file: &str| {
        let modules = Shader::all().iter().filter(|shader| shader.name.starts_with(file));
        modules.map(|shader| shader.module().reads_group_columns).collect::<Vec<_>>()
    };
    // They number tiles by rows.
    for file in ["depth_of_field_coc.comp", "depth_of_field_classes.comp"] {
        assert!(!reads(file).is_empty() && reads(file).iter().all(|reads| *reads), "{file}");
    }
    // They read the number of rows (`shaders/lib/pixel_groups.glsl`).
    for file in ["lighting.comp", "gi.comp"] {
        assert!(!reads(file).is_empty() && reads(file).iter().all(|reads| !reads), "{file}");
    }
    let count = Shader::all().iter().filter(|shader| shader.module().reads_group_columns).count();
    assert_eq!(count, 2, "modules that run at once in frames that can be interrupted");
}

#[test]
fn host_struct_layouts_match_shaders() {
    let modules: Vec<_> =
        Shader::all().iter().map(|shader| (shader.name, shader.module())).collect();
    assert!(modules.len() >= 10, "{} shaders", modules.len());
    let mut compared = 0;
    for host in shader_structs::LAYOUTS.iter().copied().flatten().chain(&gi::VPL_LAYOUTS) {
        let wanted: Vec<(String, u32)> =
            host.fields.iter().map(|&(name, offset)| (name.to_string(), offset as u32)).collect();
        let mut declared = 0;
        let mut strides = 0;
        for (shader, module) in &modules {
            for layout in module.structs.iter().filter(|layout| same_type(&layout.name, host.name))
            {
                assert_eq!(layout.members, wanted, "{} in {shader}", host.name);
                declared += 1;
                if let Some(stride) = layout.stride {
                    assert_eq!(
                        stride as usize, host.size,
                        "array stride of {} in {shader}",
                        host.name
                    );
                    strides += 1;
                }
            }
        }
        assert!(declared > 0, "no shader declares {}", host.name);
        // All but constants and counters are arrays.
        assert!(
            strides > 0 || ["Constants", "Counters"].iter().any(|end| host.name.ends_with(end)),
            "no shader has an array of {}",
            host.name
        );
        println!("{}: {declared} modules, {strides} as an array", host.name);
        compared += declared;
    }
    println!("{compared} declarations in {} modules", modules.len());
}
