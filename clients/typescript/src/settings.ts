/** Where the gateway is and what opens it: arguments of `install()`, else TOLLGATE_URL and TOLLGATE_KEY. */

export interface InstallOptions {
  /** The address of the gateway's proxy port. */
  readonly url?: string;
  readonly key?: string;
  /** Send a call straight to its provider where no connection to the gateway can be made. */
  readonly failOpen?: boolean;
}

export interface Settings {
  /** `http://host:port`, as `URL` writes it. */
  readonly origin: string;
  /** What stands before every path, without a slash at its end. */
  readonly prefix: string;
  /** The prefix without a token: where the gateway begins at its host. */
  readonly mount: string;
  /** Null where the prefix carries a token. */
  readonly key: string | null;
  readonly failOpen: boolean;
}

const DEFAULT_URL = 'http://127.0.0.1:4141';

/** Throws where an address or a key is missing or cannot be one; the text has neither. */
export function readSettings({ url, key, failOpen = false }: InstallOptions = {}): Settings {
  const parsed = parse(url ?? process.env['TOLLGATE_URL'] ?? DEFAULT_URL);
  if (parsed === null || parsed.username !== '' || parsed.search !== '' || parsed.hash !== '') {
    throw new TypeError('TOLLGATE_URL must be the address of the gateway’s proxy port, such as http://127.0.0.1:4141');
  }
  const prefix = parsed.pathname.replace(/\/+$/, '');
  const mount = prefix.replace(/\/@.*$/s, '');
  const found = (key ?? process.env['TOLLGATE_KEY'] ?? '').trim();
  if (found === '' && mount === prefix) {
    throw new TypeError('TOLLGATE_KEY is not set: `tollgate keys create NAME` makes a gateway key');
  }
  if (!/^[!-~]*$/.test(found)) throw new TypeError('TOLLGATE_KEY is not a gateway key (tgk_…)');
  return Object.freeze({ origin: parsed.origin, prefix, mount, key: found === '' ? null : found, failOpen });
}

function parse(text: string): URL | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  return url !== null && /^https?:$/.test(url.protocol) ? url : null;
}
