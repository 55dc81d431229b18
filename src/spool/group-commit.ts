/** Writes the records of one turn of the event loop together: small groups synchronously, large ones in the pool. */
import type { CallBegin, CallEnd } from '../vocabulary/call-record.ts';
import type { EmergencySegment } from './emergency-segment.ts';
import { FrameGroup } from './frame-group.ts';
import type { SegmentWriter } from './segment-writer.ts';

/** Largest group written synchronously. */
const SYNC_GROUP_BYTES = 256 * 1024;
const SYNC_INTERVAL_MS = 200;
const SYNC_DIRTY_BYTES = 4 * 1024 * 1024;
/** Attempts, each in another segment, to make a group durable. */
const MAX_DURABLE_TRIES = 2;

export interface PendingRecord {
  /** Null for a checkpoint, which is not retried. */
  readonly begin: CallBegin | null;
  readonly end: CallEnd | null;
  readonly bodies: number;
  readonly done: (isSpooled: boolean) => void;
}

export interface GroupCommitOptions {
  readonly segments: SegmentWriter;
  readonly emergency: EmergencySegment;
  readonly durability: 'process' | 'power';
  /** Lays a record out for the emergency segment; false when it has no place there. */
  readonly layOutShort: (record: PendingRecord, frames: FrameGroup) => boolean;
  readonly onWritten: (bytes: number) => void;
  /** `isDurable`: as durable as configured. */
  readonly onSpooled: (spooled: readonly PendingRecord[], isDurable: boolean) => void;
  readonly onLost: (lost: readonly PendingRecord[]) => void;
}

interface WrittenGroup {
  readonly frames: FrameGroup;
  readonly records: readonly PendingRecord[];
  readonly bytes: number;
}

export class GroupCommit {
  readonly #options: GroupCommitOptions;
  // Two buffers in turns: one gathers while the other is written.
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

  /** The gathering group; another one after each turn. */
  get frames(): FrameGroup {
    return this.#group;
  }

  /** Bytes not written yet. */
  get pendingBytes(): number {
    return this.#group.length + this.#writingBytes;
  }

  get isWriting(): boolean {
    return this.#isWriting;
  }

  /** Part of the last group was lost or is not durable. */
  get isFailing(): boolean {
    return this.#isFailing;
  }

  add(record: PendingRecord): void {
    this.#records.push(record);
    this.#schedule();
  }

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
    if (this.#options.emergency.isInUse()) this.#writeInEmergency(written);
    else this.#writeSegment(written, 1);
  }

  #writeSegment(written: WrittenGroup, tries: number): void {
    const { segments } = this.#options;
    if (written.bytes <= SYNC_GROUP_BYTES) this.#afterWrite(written, segments.writeSync(written.frames.bytes), tries);
    else segments.write(written.frames.bytes, (isWritten) => this.#afterWrite(written, isWritten, tries));
  }

  #afterWrite(written: WrittenGroup, isWritten: boolean, tries: number): void {
    const { segments, durability, onWritten } = this.#options;
    if (!isWritten) {
      // At a second try the records are in an unsynced segment: not safe, but not lost.
      if (tries > 1) this.#finishGroup(written, written.records, [], false);
      else this.#writeInEmergency(written);
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

  /** Writes record by record, so that one without room does not cost the others. */
  #writeInEmergency(written: WrittenGroup): void {
    const { segments, emergency, durability, layOutShort } = this.#options;
    const spooled: PendingRecord[] = [];
    const lost: PendingRecord[] = [];
    const { frames } = written;
    let hasSegments = true;
    for (const record of written.records) {
      frames.clear();
      if (!layOutShort(record, frames)) {
        lost.push(record);
        continue;
      }
      const isInEmergency = emergency.write(frames.bytes, segments.lastSegment());
      // A segment may have room for one record.
      if (!isInEmergency && hasSegments) hasSegments = segments.writeSync(frames.bytes);
      if (isInEmergency || hasSegments) spooled.push(record);
      else lost.push(record);
    }
    if (durability === 'process') {
      if (spooled.length > 0) this.#dirtyBytes += 1;
      this.#finishGroup(written, spooled, lost, true);
      return;
    }
    emergency.sync((emergencySynced) =>
      segments.sync((synced) => this.#finishGroup(written, spooled, lost, emergencySynced && synced)),
    );
  }

  #finishGroup(
    written: WrittenGroup,
    spooled: readonly PendingRecord[],
    lost: readonly PendingRecord[],
    isDurable: boolean,
  ): void {
    written.frames.clear();
    this.#writingBytes = 0;
    this.#isWriting = false;
    this.#isFailing = lost.length > 0 || !isDurable;
    if (spooled.length > 0) this.#options.onSpooled(spooled, isDurable);
    if (lost.length > 0) this.#options.onLost(lost);
    this.#schedule();
    if (this.#records.length === 0) for (const wake of this.#idleWaiters.splice(0)) wake();
  }

  #syncInBackground(): void {
    if (this.#isSyncing || this.#dirtyBytes === 0) return;
    this.#isSyncing = true;
    this.#dirtyBytes = 0;
    const { segments, emergency } = this.#options;
    const written = emergency.isInUse() ? emergency : segments;
    written.sync(() => {
      this.#isSyncing = false;
    });
  }
}
