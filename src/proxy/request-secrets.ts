/**
 * The parts of a request that hold secrets by their names or place, and what follows from them alone: whose they are,
 * how the target is logged, and what is searched for in answers. Each is worked out when it is first asked for, and kept
 * for the connection's next request, which mostly repeats them: working all of it out each time was 5 % of a call.
 */
import { hideInTarget } from '../formats/wire/secret-target.ts';
import { TextSearch } from '../formats/wire/text-search.ts';
import { type ClientSignature, readClientSignature } from './aws/client-signature.ts';
import { type CarriedCredential, readNamedCredentials } from './credential-owners.ts';
import type { HeaderName } from './header-names.ts';
import { listCredentials } from './list-credentials.ts';
import type { ValidRequest } from './validate-request.ts';

type Head = Pick<ValidRequest, 'names' | 'rawHeaders' | 'path' | 'query' | 'hasQuery' | 'addressToken'>;

/** A kept connection remembers no more of its last request than this. */
const MAX_REMEMBERED_CHARS = 4 * 1024;

export class RequestSecrets {
  /** The secret headers alone, so that a kept connection holds nothing else of its last request. */
  readonly #head: Head;
  #carried: readonly CarriedCredential[] | null = null;
  #shownTarget: string | null = null;
  /** Undefined until it is asked for. */
  #clientSignature: ClientSignature | null | undefined;
  #credentials: readonly string[] | null = null;
  #searches: readonly TextSearch[] | null = null;

  constructor({ names, rawHeaders, path, query, hasQuery, addressToken }: ValidRequest) {
    const secretNames: HeaderName[] = [];
    const secretHeaders: string[] = [];
    for (let index = 0; index < names.length; index += 1) {
      const name = names[index];
      if (name?.isSecret !== true) continue;
      secretNames.push(name);
      secretHeaders.push(rawHeaders[index * 2] ?? '', rawHeaders[index * 2 + 1] ?? '');
    }
    this.#head = { names: secretNames, rawHeaders: secretHeaders, path, query, hasQuery, addressToken };
  }

  get chars(): number {
    const { rawHeaders, path, query } = this.#head;
    return rawHeaders.reduce((sum, { length }) => sum + length, path.length + query.length);
  }

  /** True when the request has the same secret headers, in the same order, and the same target. */
  areOf({ names, rawHeaders, path, query, hasQuery, addressToken }: ValidRequest): boolean {
    const head = this.#head;
    if (path !== head.path || query !== head.query || hasQuery !== head.hasQuery) return false;
    if (addressToken?.text !== head.addressToken?.text) return false;
    let count = 0;
    for (let index = 0; index < names.length; index += 1) {
      const name = names[index];
      if (name?.isSecret !== true) continue;
      if (head.names[count]?.lower !== name.lower || head.rawHeaders[count * 2 + 1] !== rawHeaders[index * 2 + 1])
        return false;
      count += 1;
    }
    return count === head.names.length;
  }

  /** Credentials of providers in the secret headers and in the target. */
  get carried(): readonly CarriedCredential[] {
    this.#carried ??= readNamedCredentials(this.#head);
    return this.#carried;
  }

  /** Path and query as received, secrets replaced. */
  get shownTarget(): string {
    const { path, query, hasQuery } = this.#head;
    this.#shownTarget ??= hideInTarget(path, hasQuery ? query : null);
    return this.#shownTarget;
  }

  get clientSignature(): ClientSignature | null {
    if (this.#clientSignature === undefined) {
      const { names, rawHeaders, query } = this.#head;
      const header = (wanted: string) => rawHeaders[names.findIndex(({ lower }) => lower === wanted) * 2 + 1];
      this.#clientSignature = readClientSignature({ header, query });
    }
    return this.#clientSignature;
  }

  /** Longest first. `signed`: the flat headers that the gateway signed; empty otherwise. */
  listCredentials(signed: readonly string[]): readonly string[] {
    if (signed.length > 0) return listCredentials(this.#head, signed);
    this.#credentials ??= listCredentials(this.#head, signed);
    return this.#credentials;
  }

  listSearches(signed: readonly string[]): readonly TextSearch[] {
    if (signed.length > 0) return createSearches(this.listCredentials(signed));
    this.#searches ??= createSearches(this.listCredentials(signed));
    return this.#searches;
  }
}

function createSearches(credentials: readonly string[]): readonly TextSearch[] {
  return credentials.map((credential) => new TextSearch(credential));
}

/** The secrets of each open connection's last request, and of no earlier one. */
export class LastSecrets {
  readonly #lastOf = new WeakMap<object, RequestSecrets>();

  read(connection: object, request: ValidRequest): RequestSecrets {
    const last = this.#lastOf.get(connection);
    if (last?.areOf(request) === true) return last;
    const secrets = new RequestSecrets(request);
    if (secrets.chars <= MAX_REMEMBERED_CHARS) this.#lastOf.set(connection, secrets);
    else this.#lastOf.delete(connection);
    return secrets;
  }
}
