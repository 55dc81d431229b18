// What npm says when it cannot install, in one line with what to do. Runs on the machine's own Node, so it uses only what
// Node 20 has.

/** Told apart by npm's own code, the first that fits. */
const FAILURES = [
  [
    /\b(ENOSPC|EDQUOT)\b/,
    'the disk is full: about 1.3 GB must be free here, and 0.5 GB more for the cache of npm (npm cache verify says where it is)',
  ],
  [
    /\b(E407|ERR_PROXY_\w+|ERR_SOCKS\w*)\b|proxy authentication required|tunneling socket/i,
    'the proxy of this network refused: set HTTPS_PROXY=http://user:password@host:port, or `npm config set https-proxy ADDRESS`',
  ],
  [
    /\b(SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_GET_ISSUER_CERT(?:_LOCALLY)?|UNABLE_TO_VERIFY_LEAF_SIGNATURE|CERT_\w+)\b/,
    'the certificate of the registry is not trusted, as behind a proxy that looks into TLS: set NODE_EXTRA_CA_CERTS to its authority (a PEM file)',
  ],
  [
    /\b(EACCES|EPERM|EROFS)\b/,
    'a file may not be written: give the folder of this clone and ~/.npm to the user who starts it (not root and another one in turn)',
  ],
  [/\b(EBADENGINE|ENOTSUP)\b/, 'this Node or npm is too old: Node 20 or newer is needed'],
  [
    /\b(E401|E403|ENEEDAUTH)\b/,
    'the registry refused: `npm config get registry` shows which it is, and `npm login` signs in to it',
  ],
  [
    /\b(E404|ETARGET)\b/,
    'the registry lacks a package: `npm config get registry` shows which it is; a mirror may be behind',
  ],
  [
    /\bEINTEGRITY\b/,
    'a package is not what the lock file says: `npm cache clean --force`, and start again; if it stays, the registry serves something else',
  ],
  [
    /\b(ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ECONNREFUSED|ECONNRESET|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT|FETCH_ERROR|E50\d)\b/,
    'the registry cannot be reached: is there a network? Behind a proxy set HTTPS_PROXY=http://host:port; what was fetched is kept, so start again',
  ],
  [
    /\bEUSAGE\b/,
    'package.json and package-lock.json do not agree: `git status`, and `git checkout package.json package-lock.json`',
  ],
];

/** Null when nothing is known of it. `code` is that of starting npm itself, or undefined. */
export function explainNpmFailure(output, code) {
  if (code === 'ENOENT')
    return 'npm is not installed: it comes with Node (https://nodejs.org), on Debian as the package npm';
  return FAILURES.find(([pattern]) => pattern.test(output))?.[1] ?? null;
}
