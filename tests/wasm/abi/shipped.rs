//! `core.wasm` as it is shipped, loaded into Node.

use js_sys::{Array, Float64Array, Function, Object, Reflect, Uint8Array, WebAssembly};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};

use crate::buffers::TEXT_LEN;
use crate::call::{CELLS, Call, Reply};
use crate::traffic::FUNCTIONS;

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../npm/dist/core.wasm");

/// What the module exports besides the functions that calls are drawn of.
const PLACES: [&str; 4] = ["abi_version", "memory", "step_buffer", "text_buffer"];

#[wasm_bindgen(module = "node:fs")]
extern "C" {
    #[wasm_bindgen(js_name = readFileSync)]
    fn read_file(path: &str) -> Uint8Array;
}

pub struct Module {
    exports: Object,
    memory: WebAssembly::Memory,
    text: u32,
    step: u32,
}

impl Module {
    /// Fails when the module exports a function that no calls are drawn of.
    pub fn load() -> Self {
        let module = WebAssembly::Module::new(&read_file(PATH)).expect("core.wasm is a module");
        let exports = WebAssembly::Instance::new(&module, &Object::new())
            .expect("core.wasm needs nothing")
            .exports();
        let mut names: Vec<String> =
            Object::keys(&exports).iter().filter_map(|name| name.as_string()).collect();
        let mut known: Vec<&str> = FUNCTIONS.iter().map(|(name, _)| *name).chain(PLACES).collect();
        names.sort();
        known.sort();
        assert_eq!(names, known, "calls are drawn of every function");

        let memory = Reflect::get(&exports, &"memory".into()).expect("the module has a memory");
        let mut module = Self { exports, memory: memory.unchecked_into(), text: 0, step: 0 };
        let place = |name| module.call(name, &[]).expect("the buffers have places") as u32;
        (module.text, module.step) = (place("text_buffer"), place("step_buffer"));
        module
    }

    /// The error is a trap.
    pub fn answer(&self, call: &Call) -> Result<Reply, JsValue> {
        if let Some(text) = &call.text {
            self.text().subarray(0, text.len() as u32).copy_from(text);
        }
        if let Some(cells) = &call.cells {
            self.cells().copy_from(cells);
        }
        let signed = self.call(call.function, &call.arguments)?;
        let answer = match call.function {
            "retry_after" | "idempotency_value" => signed,
            // Numbers of 32 bits come out of a module with a sign.
            _ => f64::from(signed as i32 as u32),
        };
        let mut cells = [0.0; CELLS];
        self.cells().copy_to(&mut cells);
        Ok(Reply { answer, text: self.text().to_vec(), cells })
    }

    fn call(&self, function: &str, arguments: &[f64]) -> Result<f64, JsValue> {
        let export = Reflect::get(&self.exports, &function.into())?.unchecked_into::<Function>();
        let arguments: Array = arguments.iter().map(|number| JsValue::from_f64(*number)).collect();
        let answer = export.apply(&JsValue::UNDEFINED, &arguments)?;
        Ok(answer.as_f64().unwrap_or_default())
    }

    fn text(&self) -> Uint8Array {
        let bytes = TEXT_LEN as u32;
        Uint8Array::new_with_byte_offset_and_length(&self.memory.buffer(), self.text, bytes)
    }

    fn cells(&self) -> Float64Array {
        let cells = CELLS as u32;
        Float64Array::new_with_byte_offset_and_length(&self.memory.buffer(), self.step, cells)
    }
}
