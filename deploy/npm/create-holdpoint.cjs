#!/usr/bin/env node
// `npm create holdpoint@latest my-agent`: the template of `holdpoint new`.
"use strict";

var given = process.argv.slice(2);
process.argv = [process.argv[0], process.argv[1], "new"].concat(given.length === 0 ? ["my-agent"] : given);
require(require("path").join(require.resolve("holdpoint/package.json"), "..", "bin", "holdpoint.cjs"));
