/** Joins text pieces before counting, since a token may span two. Beyond its limit only bytes are counted. */

/** UTF-8 bytes of all texts of one body together. */
export const MAX_TEXT_BYTES = 1024 * 1024;
/** Pieces beyond this many channels share one. */
const MAX_CHANNELS = 1_000;
const REST = 'rest';

export interface CollectedText {
  readonly texts: readonly string[];
  readonly overBytes: number;
}

export interface TextCollector {
  /** Pieces of a channel are joined in order. */
  readonly add: (channel: string, text: string) => void;
  /** `sinceMark` counts from here. */
  readonly mark: () => void;
  readonly all: () => CollectedText;
  readonly sinceMark: () => CollectedText | null;
}

interface Channel {
  readonly parts: string[];
  /** Mutable: each mark moves it to the first part after the mark. */
  markedAt: number;
}

export function createTextCollector(): TextCollector {
  const channels = new Map<string, Channel>();
  let keptBytes = 0;
  let overBytes = 0;
  let overAtMark: number | null = null;

  function channelOf(name: string): Channel {
    const key = channels.has(name) || channels.size < MAX_CHANNELS ? name : REST;
    const found = channels.get(key);
    if (found !== undefined) return found;
    const made = { parts: [], markedAt: 0 };
    channels.set(key, made);
    return made;
  }

  function read(firstPart: (channel: Channel) => number): readonly string[] {
    return [...channels.values()]
      .map((channel) => channel.parts.slice(firstPart(channel)).join(''))
      .filter((text) => text !== '');
  }

  return {
    add: (name, text) => {
      if (text === '') return;
      const bytes = Buffer.byteLength(text);
      if (keptBytes + bytes > MAX_TEXT_BYTES) {
        overBytes += bytes;
        return;
      }
      keptBytes += bytes;
      channelOf(name).parts.push(text);
    },
    mark: () => {
      for (const channel of channels.values()) channel.markedAt = channel.parts.length;
      overAtMark = overBytes;
    },
    all: () => ({ texts: read(() => 0), overBytes }),
    sinceMark: () =>
      overAtMark === null ? null : { texts: read((channel) => channel.markedAt), overBytes: overBytes - overAtMark },
  };
}
