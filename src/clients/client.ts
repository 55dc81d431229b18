/**
 * The contract of a client: a program that developers know by name, recognised by what it sends. One file for each client
 * that says in its headers which session and which agent a call belongs to, one line in `registry.ts`. Programs that say
 * no more than their name are rows of `known-names.ts`. Pure; header values come as node:http shows them.
 */

/** The first value of a header by lower-case name. */
export type HeaderReader = (name: string) => string | undefined;

export interface Client {
  /** The name that its users know: `claude-code`. */
  readonly name: string;
  /** Matches its user agents, or those of the SDK that it is built on. */
  readonly userAgent: RegExp;
  /** Where others have that user agent too: tells its calls from theirs. */
  readonly isOwn?: (header: HeaderReader) => boolean;
  /** Null for a call that names no session, such as a probe at the start. */
  readonly readAgent: (header: HeaderReader) => AgentOfCall | null;
  /** Of a client that says the agent turn in each message of a websocket: from such a message, in JSON. Null where it does not. */
  readonly readAgentTurnOfMessage?: (message: Buffer) => string | null;
}

/** Who made a call, as far as the call itself tells. All ids are as `readId` returns them. */
export interface AgentOfCall {
  /**
   * The session, which is the same after it was resumed. Of a sub-agent whose client names only its parent, the parent:
   * the root where the parent is the main agent.
   */
  readonly session: string;
  /**
   * The sub-agents from the main agent down to the one that calls; empty for the main agent. A call names the parent of
   * its agent at most, so that the ones above the parent may be missing.
   */
  readonly agents: readonly string[];
  /** What began with a person's last message; null where the client does not tell. */
  readonly agentTurn: string | null;
}
