import { describe, expect, test } from 'vitest';
import { MAX_FIELD_BYTES, readBoundary, readMultipartFields } from './multipart-fields.ts';

const WANTED = ['model', 'stream'];

function field(name: string, value: string): string {
  return `--b0\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
}

function read(body: string | Buffer): Record<string, string> {
  const bytes = typeof body === 'string' ? Buffer.from(body, 'latin1') : body;
  return Object.fromEntries(readMultipartFields(bytes, 'b0', WANTED));
}

const FILE = Buffer.concat([
  Buffer.from(
    '--b0\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\nContent-Type: audio/wav\r\n\r\n',
  ),
  Buffer.from(Array.from({ length: 512 }, (_, index) => index % 256)),
  // What only looks like a boundary: inside a line, with more behind it, with a lone LF before it.
  Buffer.from('x--b0\r\n\r\n--b0x\r\n\r\n--b01\r\n\n--b0\r\n--b\r\n'),
  Buffer.from('\r\nContent-Disposition: form-data; name="model"\r\n\r\nwrong\r\n\r\n'),
]);

describe('the boundary of a content type', () => {
  test.each([
    ['multipart/form-data; boundary=b0', 'b0'],
    ['multipart/form-data; boundary="b 0;="', 'b 0;='],
    ['Multipart/Form-Data; charset=utf-8; Boundary=----WebKitFormBoundaryX', '----WebKitFormBoundaryX'],
    ['multipart/form-data; x="; boundary=wrong"; boundary=right', 'right'],
    ['multipart/form-data', null],
    ['multipart/form-data; boundary=', null],
    [`multipart/form-data; boundary=${'x'.repeat(300)}`, null],
    ['application/json; boundary=b0', null],
    [null, null],
  ])('%s', (contentType, boundary) => {
    expect(readBoundary(contentType)).toBe(boundary);
  });
});

describe('fields of a form', () => {
  test('before the file', () => {
    const body = Buffer.concat([Buffer.from(field('model', 'whisper-1') + field('stream', 'true')), FILE]);
    expect(read(body)).toEqual({ model: 'whisper-1', stream: 'true' });
  });

  test('behind a file that holds boundary-like bytes', () => {
    const body = Buffer.concat([FILE, Buffer.from(`${field('model', 'whisper-1')}--b0--\r\n`)]);
    expect(read(body)).toEqual({ model: 'whisper-1' });
  });

  test('in a tail that begins anywhere', () => {
    const tail = Buffer.from(`${field('prompt', 'x')}${field('model', 'whisper-1')}--b0--\r\n`);
    const body = Buffer.concat([FILE, tail]);
    for (let from = 0; from < FILE.length; from += 1) {
      expect(read(body.subarray(from)), `from ${from}`).toEqual({ model: 'whisper-1' });
    }
  });

  test.each<[string, string, Record<string, string>]>([
    ['a name without quotes', '--b0\r\ncontent-disposition:form-data;name=model\r\n\r\nm\r\n--b0--', { model: 'm' }],
    [
      'further headers of the part',
      '--b0\r\nContent-Type: text/plain\r\nContent-Disposition: form-data; name="model"\r\nX: y\r\n\r\nm\r\n--b0--',
      { model: 'm' },
    ],
    ['white space behind the boundary', `${field('model', 'm')}--b0 \t\r\n`, { model: 'm' }],
    ['a preamble', `ignore me\r\n${field('model', 'm')}--b0--`, { model: 'm' }],
    ['an epilogue', `${field('model', 'm')}--b0--\r\n${field('model', 'wrong')}--b0--`, { model: 'm' }],
    ['a name that comes twice', `${field('model', 'a')}${field('model', 'b')}--b0--`, { model: 'b' }],
    ['an empty value', `${field('model', '')}--b0--`, { model: '' }],
    ['a value with line ends', `${field('model', 'a\r\n-')}--b0--`, { model: 'a\r\n-' }],
    ['a field that is cut', field('model', 'whisp').slice(0, -2), {}],
    [
      'a file of that name',
      '--b0\r\nContent-Disposition: form-data; name="model"; filename="m"\r\n\r\nm\r\n--b0--',
      {},
    ],
    [
      'the name inside a file name',
      '--b0\r\nContent-Disposition: form-data; filename="a; name=model"; name="file"\r\n\r\nm\r\n--b0--',
      {},
    ],
    ['a part without headers', '--b0\r\n\r\nm\r\n--b0--', {}],
    ['a part without anything', `--b0\r\n${field('model', 'm')}--b0--`, { model: 'm' }],
    ['a field over the limit', `${field('model', 'x'.repeat(MAX_FIELD_BYTES + 1))}--b0--`, {}],
    ['nothing', '', {}],
  ])('%s', (_, body, expected) => {
    expect(read(body)).toEqual(expected);
  });
});

test('a megabyte that begins like a boundary again and again holds nothing', () => {
  const body = Buffer.from('\r\n--b0x'.repeat(150_000));
  expect(read(body)).toEqual({});
});
