/**
 * Brings records to the disk in groups: what one turn of the event loop adds is written together at its end. A small
 * group goes out by one synchronous `write`, which costs a few microseconds; a large one goes through the thread pool,
 * one at a time, while the next group gathers, so that a throttled disk does not stop the event loop. What can be
 * written to no segment goes into the reserve. It does not decide what is written, and counts nothing.
 */
import type { CallBegin, CallEnd } from '../call-record.ts';
import { FrameGroup } from './frame-group.ts';
import type { Reserve } from './reserve.ts';
import type { SegmentWriter } from './segment-writer.ts';

/** Groups up to this size are written in the event loop. */
const SYNC_GROUP_BYTES = 256 * 1024;
const SYNC_INTERVAL_MS = 200;
const SYNC_DIRTY_BYTES = 4 * 1024 * 1024;
/** How often a group is written, each time to another segment, when it cannot be made durable. */
const MAX_DURABLE_TRIES = 2;

export interface PendingRecord {
  /** Null for a checkpoint, which is not worth a second try. */
  readonly begin: CallBegin | null;
  /** Of an ending. */
  readonly end: CallEnd | null;
  /** Bodies in the frame. */
  readonly bodies: number;
  /** Told whether the record is kept. */
  readonly done: (kept: boolean) => void;
}

export interface GroupCommitOptions {
  readonly segments: SegmentWriter;
  readonly reserve: Reserve;
  readonly durability: 'process' | 'power';
  /** Lays a record out for the reserve. False: it has no place there. */
  readonly layOutShort: (frames: FrameGroup, record: PendingRecord) => boolean;
  /** So many bytes are in a segment now. */
  readonly onWritten: (bytes: number) => void;
  /** `isDurable`: as the durability asks. */
  readonly onKept: (kept: readonly PendingRecord[], isDurable: boolean) => void;
  readonly onLost: (lost: readonly PendingRecord[]) => void;
}

interface WrittenGroup {
  readonly frames: FrameGroup;
  readonly records: readonly PendingRecord[];
  readonly bytes: number;
}

export class GroupCommit {
  readonly #options: GroupCommitOptions;
  // The group that gathers; while one is on its way to the disk its buffer is not touched, and the other one gathers.
  #group = new FrameGroup();
  #spare = new FrameGroup();
  #records: PendingRecord[] = [];
  #writingBytes = 0;
  #isScheduled = false;
  #isWriting = false;
  #isFailing = false;
  readonly #idleWaiters: (() => void)[] = [];
  #dirtyBytes = 0;
  #isSyncing = false;
  readonly #syncTimer: NodeJS.Timeout;

  constructor(options: GroupCommitOptions) {
    this.#options = options;
    this.#syncTimer = setInterval(() => this.#syncInBackground(), SYNC_INTERVAL_MS);
    this.#syncTimer.unref();
  }

  /** The group that gathers: a record is laid out in it, then added. Another one after each turn. */
  get frames(): FrameGroup {
    return this.#group;
  }

  /** Bytes that are not on the disk yet. */
  get pendingBytes(): number {
    return this.#group.length + this.#writingBytes;
  }

  get isWriting(): boolean {
    return this.#isWriting;
  }

  /** Of the last group something was lost, or it is not durable. */
  get isFailing(): boolean {
    return this.#isFailing;
  }

  add(record: PendingRecord): void {
    this.#records.push(record);
    this.#schedule();
  }

  /** Resolves when nothing is pending. */
  async close(): Promise<void> {
    clearInterval(this.#syncTimer);
    if (this.#records.length > 0 || this.#isWriting) await new Promise<void>((wake) => this.#idleWaiters.push(wake));
  }

  #schedule(): void {
    if (this.#isScheduled || this.#isWriting || this.#records.length === 0) return;
    this.#isScheduled = true;
    setImmediate(() => this.#writeGroup());
  }

  #writeGroup(): void {
    this.#isScheduled = false;
    if (this.#records.length === 0) return;
    const written = { frames: this.#group, records: this.#records, bytes: this.#group.length };
    this.#group = this.#spare;
    this.#spare = written.frames;
    this.#records = [];
    this.#writingBytes = written.bytes;
    this.#isWriting = true;
    if (this.#options.reserve.isInUse()) this.#writeInReserve(written);
    else this.#writeSegment(written, 1);
  }

  #writeSegment(written: WrittenGroup, tries: number): void {
    const { segments } = this.#options;
    if (written.bytes <= SYNC_GROUP_BYTES) this.#afterWrite(written, segments.writeSync(written.frames.bytes), tries);
    else segments.write(written.frames.bytes, (kept) => this.#afterWrite(written, kept, tries));
  }

  #afterWrite(written: WrittenGroup, kept: boolean, tries: number): void {
    const { segments, durability, onWritten } = this.#options;
    if (!kept) {
      // At a second try the records are in the segment that could not be synced: not safe, and not lost either.
      if (tries > 1) this.#finishGroup(written, written.records, [], false);
      else this.#writeInReserve(written);
      return;
    }
    onWritten(written.bytes);
    if (durability === 'power') {
      segments.sync((synced) => {
        if (synced || tries >= MAX_DURABLE_TRIES) this.#finishGroup(written, written.records, [], synced);
        else this.#writeSegment(written, tries + 1);
      });
    } else {
      this.#dirtyBytes += written.bytes;
      this.#finishGroup(written, written.records, [], true);
      if (this.#dirtyBytes >= SYNC_DIRTY_BYTES) this.#syncInBackground();
    }
  }

  /** Each record for itself: one that has no room leaves the others theirs. */
  #writeInReserve(written: WrittenGroup): void {
    const { segments, reserve, durability, layOutShort } = this.#options;
    const kept: PendingRecord[] = [];
    const lost: PendingRecord[] = [];
    const { frames } = written;
    let hasSegments = true;
    for (const record of written.records) {
      frames.clear();
      if (!layOutShort(frames, record)) {
        lost.push(record);
        continue;
      }
      const isInReserve = reserve.write(frames.bytes, segments.lastSegment());
      // There may be a little room where a whole group had none.
      if (!isInReserve && hasSegments) hasSegments = segments.writeSync(frames.bytes);
      if (isInReserve || hasSegments) kept.push(record);
      else lost.push(record);
    }
    if (durability === 'process') {
      if (kept.length > 0) this.#dirtyBytes += 1;
      this.#finishGroup(written, kept, lost, true);
      return;
    }
    reserve.sync((reserveSynced) =>
      segments.sync((synced) => this.#finishGroup(written, kept, lost, reserveSynced && synced)),
    );
  }

  #finishGroup(
    written: WrittenGroup,
    kept: readonly PendingRecord[],
    lost: readonly PendingRecord[],
    isDurable: boolean,
  ): void {
    written.frames.clear();
    this.#writingBytes = 0;
    this.#isWriting = false;
    this.#isFailing = lost.length > 0 || !isDurable;
    if (kept.length > 0) this.#options.onKept(kept, isDurable);
    if (lost.length > 0) this.#options.onLost(lost);
    this.#schedule();
    if (this.#records.length === 0) for (const wake of this.#idleWaiters.splice(0)) wake();
  }

  #syncInBackground(): void {
    if (this.#isSyncing || this.#dirtyBytes === 0) return;
    this.#isSyncing = true;
    this.#dirtyBytes = 0;
    const { segments, reserve } = this.#options;
    const written = reserve.isInUse() ? reserve : segments;
    written.sync(() => {
      this.#isSyncing = false;
    });
  }
}
