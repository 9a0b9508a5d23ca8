// The same program as CommonJS.
const filewright = require("filewright");

import("./steps.mjs").then(async ({ steps }) => console.log(JSON.stringify(await steps(filewright))));
