import "./thread-order.test.ts";
