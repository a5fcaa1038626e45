export type ContentEncoding = "identity" | "gzip" | "deflate" | "zstd";
