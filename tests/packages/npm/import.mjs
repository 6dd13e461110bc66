import { ResilientClient } from "stormproof";

console.log(await new ResilientClient({ name: "packed" }).call(async () => "import: ok"));
