//! On macOS a module of Python leaves the interpreter's symbols to whoever loads it; the linker has to be told.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
