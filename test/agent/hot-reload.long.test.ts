import "./hot-reload.test.ts";
