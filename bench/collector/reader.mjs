// Hand-written single-pass OTLP trace reader (protobuf wire format). Strings: latin1 fast path when short, else utf8Slice.
// 64-bit nanos as BigInt only on demand: kept as two uint32 (hi, lo). int64 attribute values: number if safe.
export function makeReader({ lazy = false } = {}) {
  let b, pos;
  function varint() {
    let x = b[pos++];
    if (x < 128) return x;
    x &= 127;
    let y = b[pos++];
    x |= (y & 127) << 7;
    if (y < 128) return x;
    y = b[pos++];
    x |= (y & 127) << 14;
    if (y < 128) return x;
    y = b[pos++];
    x |= (y & 127) << 21;
    if (y < 128) return x;
    y = b[pos++];
    let v = (x >>> 0) + (y & 127) * 268435456;
    let m = 34359738368;
    while (y >= 128) {
      y = b[pos++];
      v += (y & 127) * m;
      m *= 128;
    }
    return v;
  }
  function skip(w) {
    if (w === 0) {
      while (b[pos++] > 127);
    } else if (w === 1) pos += 8;
    else if (w === 2) {
      const n = varint();
      pos += n;
    } else if (w === 5) pos += 4;
    else throw new Error("wire type " + w);
  }
  function str(n) {
    const s = pos;
    pos += n;
    if (pos > b.length) throw new RangeError("truncated");
    if (n < 24) {
      let r = "";
      for (let i = s; i < pos; i++) {
        const c = b[i];
        if (c > 127) return b.utf8Slice(s, pos);
        r += String.fromCharCode(c);
      }
      return r;
    }
    return lazy && n > 64 ? { s, e: pos } : b.utf8Slice(s, pos);
  }
  const keyCache = new Map();
  function key(n) {
    // attribute keys repeat: cache by (length, hash)
    const s = pos;
    pos += n;
    let h = n;
    for (let i = s; i < pos; i++) h = (Math.imul(h, 31) + b[i]) | 0;
    const c = keyCache.get(h);
    if (c !== undefined && c.length === n) {
      let i = 0;
      while (i < n && c.charCodeAt(i) === b[s + i]) i++;
      if (i === n) return c;
    }
    const k = b.utf8Slice(s, pos);
    if (keyCache.size < 2000) keyCache.set(h, k);
    return k;
  }
  function any(end) {
    let v = null;
    while (pos < end) {
      const t = varint();
      switch (t >>> 3) {
        case 1:
          v = str(varint());
          break;
        case 2:
          v = varint() !== 0;
          break;
        case 3:
          v = int64();
          break;
        case 4:
          v = b.readDoubleLE(pos);
          pos += 8;
          break;
        case 5: {
          const e = varint() + pos;
          const a = [];
          while (pos < e) {
            const t2 = varint();
            if (t2 === 10) {
              const n = varint();
              a.push(any(pos + n));
            } else skip(t2 & 7);
          }
          v = a;
          break;
        }
        case 6: {
          const e = varint() + pos;
          const o = {};
          while (pos < e) {
            const t2 = varint();
            if (t2 === 10) {
              const n = varint();
              kv(pos + n, o);
            } else skip(t2 & 7);
          }
          v = o;
          break;
        }
        case 7: {
          const n = varint();
          v = b.subarray(pos, pos + n);
          pos += n;
          break;
        }
        default:
          skip(t & 7);
      }
    }
    return v;
  }
  function int64() {
    const s = pos;
    let n = 0;
    while (b[pos] > 127) {
      pos++;
      n++;
    }
    pos++;
    if (n < 7) {
      const e = pos;
      pos = s;
      const v = varint();
      pos = e;
      return v;
    }
    let r = 0n;
    for (let i = 0; i <= n; i++) r |= BigInt(b[s + i] & 127) << BigInt(7 * i);
    const x = BigInt.asIntN(64, r);
    const num = Number(x);
    return Number.isSafeInteger(num) ? num : x;
  }
  function kv(end, o) {
    let k = "",
      v = null;
    while (pos < end) {
      const t = varint();
      if (t === 10) k = key(varint());
      else if (t === 18) {
        const n = varint();
        v = any(pos + n);
      } else skip(t & 7);
    }
    o[k] = v;
  }
  function kvArr(end, a) {
    let k = "",
      v = null;
    while (pos < end) {
      const t = varint();
      if (t === 10) k = key(varint());
      else if (t === 18) {
        const n = varint();
        v = any(pos + n);
      } else skip(t & 7);
    }
    a.push(k, v);
  }
  function event(end) {
    const e = { hi: 0, lo: 0, name: "", attrs: [] };
    while (pos < end) {
      const t = varint();
      switch (t) {
        case 9:
          e.lo = b.readUInt32LE(pos);
          e.hi = b.readUInt32LE(pos + 4);
          pos += 8;
          break;
        case 18:
          e.name = str(varint());
          break;
        case 26: {
          const n = varint();
          kvArr(pos + n, e.attrs);
          break;
        }
        default:
          skip(t & 7);
      }
    }
    return e;
  }
  function span(end) {
    const s = {
      traceId: "",
      spanId: "",
      parentId: "",
      name: "",
      kind: 0,
      sHi: 0,
      sLo: 0,
      eHi: 0,
      eLo: 0,
      attrs: [],
      events: null,
      code: 0,
      message: "",
    };
    while (pos < end) {
      const t = varint();
      switch (t) {
        case 10: {
          const n = varint();
          s.traceId = b.hexSlice(pos, pos + n);
          pos += n;
          break;
        }
        case 18: {
          const n = varint();
          s.spanId = b.hexSlice(pos, pos + n);
          pos += n;
          break;
        }
        case 34: {
          const n = varint();
          s.parentId = b.hexSlice(pos, pos + n);
          pos += n;
          break;
        }
        case 42:
          s.name = str(varint());
          break;
        case 48:
          s.kind = varint();
          break;
        case 57:
          s.sLo = b.readUInt32LE(pos);
          s.sHi = b.readUInt32LE(pos + 4);
          pos += 8;
          break;
        case 65:
          s.eLo = b.readUInt32LE(pos);
          s.eHi = b.readUInt32LE(pos + 4);
          pos += 8;
          break;
        case 74: {
          const n = varint();
          kvArr(pos + n, s.attrs);
          break;
        }
        case 90: {
          const n = varint();
          (s.events ??= []).push(event(pos + n));
          break;
        }
        case 122: {
          const e = varint() + pos;
          while (pos < e) {
            const t2 = varint();
            if (t2 === 18) s.message = str(varint());
            else if (t2 === 24) s.code = varint();
            else skip(t2 & 7);
          }
          break;
        }
        default:
          skip(t & 7);
      }
    }
    return s;
  }
  return function read(buf) {
    b = buf;
    pos = 0;
    const out = [];
    while (pos < b.length) {
      const t = varint();
      if (t !== 10) {
        skip(t & 7);
        continue;
      }
      const rsEnd = varint() + pos;
      while (pos < rsEnd) {
        const t1 = varint();
        if (t1 === 10) {
          const e = varint() + pos;
          const attrs = [];
          while (pos < e) {
            const t2 = varint();
            if (t2 === 10) {
              const n = varint();
              kvArr(pos + n, attrs);
            } else skip(t2 & 7);
          }
          out.resource = attrs;
        } else if (t1 === 18) {
          const ssEnd = varint() + pos;
          while (pos < ssEnd) {
            const t2 = varint();
            if (t2 === 18) {
              const n = varint();
              out.push(span(pos + n));
            } else skip(t2 & 7);
          }
        } else skip(t1 & 7);
      }
    }
    return out;
  };
}
