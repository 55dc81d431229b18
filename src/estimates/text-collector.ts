/**
 * Gathers text that came in pieces: what belongs together is joined before it is counted, since a token may lie across
 * two pieces. Beyond its limit it keeps no text and only counts bytes.
 */

/** Of all texts of one body. Bytes as UTF-8. */
export const MAX_TEXT_BYTES = 1024 * 1024;
/** Pieces of more channels than these (an answer with many tool calls) are gathered in one. */
const MAX_CHANNELS = 1_000;
const REST = 'rest';

export interface CollectedText {
  readonly texts: readonly string[];
  /** Of the texts that were not kept. */
  readonly overBytes: number;
}

export interface TextCollector {
  /** Pieces of one channel follow each other. */
  readonly add: (channel: string, text: string) => void;
  /** From here on counts what `sinceMark` gives. */
  readonly mark: () => void;
  readonly all: () => CollectedText;
  /** Null without a mark. */
  readonly sinceMark: () => CollectedText | null;
}

interface Channel {
  readonly parts: string[];
  /** The first part after the mark. Mutable: each mark moves it. */
  markedAt: number;
}

export function createTextCollector(): TextCollector {
  // Mutable because the text comes piece by piece.
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
