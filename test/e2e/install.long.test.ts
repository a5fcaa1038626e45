import "./install.test.ts";
