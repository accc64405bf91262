//! On macOS, a Python extension module leaves the interpreter's symbols undefined until it is loaded; the linker needs
//! an option for this.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
