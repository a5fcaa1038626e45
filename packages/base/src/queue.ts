// Queue: FIFO in constant time. An array's shift() moves all later elements once the array is long.

export interface Queue<T> {
  readonly push: (item: T) => void;
  /** Puts the item at the front, as the next to take. */
  readonly unshift: (item: T) => void;
  readonly shift: () => T | undefined;
  readonly peek: () => T | undefined;
  readonly length: number;
  [Symbol.iterator](): Iterator<T>;
}

const COMPACT_AFTER = 1024;

export function createQueue<T>(): Queue<T> {
  let items: (T | undefined)[] = [];
  let head = 0;
  return {
    push: (item) => void items.push(item),
    unshift(item) {
      if (head > 0) items[--head] = item;
      else items.unshift(item);
    },
    shift() {
      if (head === items.length) return undefined;
      const item = items[head];
      items[head++] = undefined;
      if (head >= COMPACT_AFTER && head * 2 >= items.length) {
        items = items.slice(head);
        head = 0;
      }
      return item;
    },
    peek: () => items[head],
    get length() {
      return items.length - head;
    },
    *[Symbol.iterator]() {
      for (let at = head; at < items.length; at++) yield items[at] as T;
    },
  };
}
