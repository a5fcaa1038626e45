#!/usr/bin/env node
// Launcher: checks the version of Node before anything else is loaded. Its syntax is that of Node 14.
"use strict";

// node:sqlite with isTransaction, zstd in node:zlib and synchronous module hooks.
var wanted = "22.16 (of 22) or 24";
var version = process.versions.node.split(".").map(Number);
var major = version[0];
var fits = major >= 24 || (major === 22 && version[1] >= 16);

if (fits) {
  // Node 22 warns at each start that node:sqlite is experimental, which its user cannot act on.
  var emitWarning = process.emitWarning.bind(process);
  process.emitWarning = function (warning, type) {
    if (type === "ExperimentalWarning" && String(warning).startsWith("SQLite ")) return;
    emitWarning.apply(null, arguments);
  };
  void import("../dist/main.js");
} else {
  process.stderr.write("holdpoint needs Node " + wanted + " or newer; this is Node " + process.versions.node + "\n");
  process.exit(1);
}
