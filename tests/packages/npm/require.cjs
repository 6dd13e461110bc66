const { ResilientClient } = require("stormproof");

new ResilientClient({ name: "packed" }).call(async () => "require: ok").then(console.log);
