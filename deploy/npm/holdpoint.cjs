#!/usr/bin/env -S node --max-semi-space-size=16
// Launcher: checks the version of Node before anything else is loaded. Its syntax is that of Node 14. Its flag is that of
// main.ts.
"use strict";

// The same forms as in doctor's check: `^22.19.0` within one major version, `>=24.1.0` from a version on, and `||`.
var wanted = require("../package.json").engines.node;
var version = process.versions.node.split(".").map(Number);
var fits = wanted.split("||").some(function (part) {
  var from = part.match(/\d+/g).map(Number);
  if (version[0] === from[0]) return version[1] >= from[1];
  return version[0] > from[0] && part.indexOf("^") < 0;
});
var words = wanted.split("||").map(function (part) {
  var from = part.match(/\d+/g).map(Number);
  return from[0] + "." + from[1] + (part.indexOf("^") < 0 ? " or newer" : " or newer of " + from[0]);
});

if (fits) {
  // Node 22 warns at each start that node:sqlite is experimental, which its user cannot act on.
  var emitWarning = process.emitWarning.bind(process);
  process.emitWarning = function (warning, type) {
    if (type === "ExperimentalWarning" && String(warning).startsWith("SQLite ")) return;
    emitWarning.apply(null, arguments);
  };
  void import("../dist/holdpoint/src/main.js");
} else {
  process.stderr.write(
    "holdpoint needs Node " + words.join(", or Node ") + "; this is Node " + process.versions.node + "\n",
  );
  process.exit(1);
}
