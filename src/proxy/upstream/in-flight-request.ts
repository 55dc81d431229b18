/** One call in flight: what is sent, who is told, and its connection. It ends once. */

import type { UpstreamCall, UpstreamEvents, UpstreamRequest } from './upstream.ts';
import { UpstreamBody } from './upstream-body.ts';
import { describeDefect, describeFailure, type UpstreamFailure } from './upstream-failure.ts';

interface CarryingConnection {
  drop(): void;
  pause(): void;
  resume(): void;
  noteProgress(): void;
  expectEnd(): void;
}

export class InFlightRequest implements UpstreamCall {
  readonly head: string;
  readonly isHeadRequest: boolean;
  readonly bytes: Buffer | null;
  readonly body: UpstreamBody | null;
  readonly events: UpstreamEvents;
  connection: CarryingConnection | null = null;
  isEnded = false;
  /** Its kept connection was dead; it is on its second and last one. */
  isSentAgain = false;
  lastTick = 0;

  constructor(request: UpstreamRequest, head: string, events: UpstreamEvents) {
    const { body } = request;
    this.head = head;
    this.isHeadRequest = request.method === 'HEAD';
    this.events = events;
    this.bytes = body !== null && Buffer.isBuffer(body) ? body : null;
    this.body = body === null || Buffer.isBuffer(body) ? null : new UpstreamBody(body, request.bodyBytes, this);
  }

  abort(): void {
    if (this.isEnded) return;
    this.isEnded = true;
    this.body?.stop();
    this.connection?.drop();
  }

  pause(): void {
    this.connection?.pause();
  }

  resume(): void {
    this.connection?.resume();
  }

  expectEnd(): void {
    this.connection?.expectEnd();
  }

  onBodyProgress(): void {
    this.connection?.noteProgress();
  }

  fail(error: Error): void {
    this.failAs(describeFailure(error));
  }

  failAs(failure: UpstreamFailure): void {
    if (this.isEnded) return;
    this.isEnded = true;
    this.body?.stop();
    this.connection?.drop();
    this.events.onFailure(failure);
  }

  /** The answer is whole, and the connection was given back. */
  end(): void {
    this.isEnded = true;
    this.body?.stop();
    try {
      this.events.onEnd();
    } catch (error) {
      // A defect in a listener must not take down the process.
      this.events.onFailure(describeDefect(error));
    }
  }
}
