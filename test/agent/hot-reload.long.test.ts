import "./hot-reload.slow.test.ts";
