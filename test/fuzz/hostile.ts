/** Arbitraries of what no honest client sends: odd keys, strings and numbers, and honest objects with a few places spoiled. */
import fc from 'fast-check'

/** Texts that JSON.stringify cannot make; {@link textOf} puts them in as they are. */
const RAW = ['1e400', '-1e400', '-0', '1.0', '123456789012345678901234567890', '9223372036854775808', '1E-400'] as const
const RAW_MARK = '\u0001raw:'

export const hostileKey: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    ...['__proto__', 'constructor', 'prototype', 'hasOwnProperty', 'toString', 'toJSON', 'length', 'then', '', '-'],
    ...['a/b', 'a~b', '~1', '~', '$patch', '$retainKeys', '$setElementOrder/containers', '$setElementOrder/'],
    ...['$deleteFromPrimitiveList/finalizers', 'f:metadata', 'k:{"name":"c"}', 'k:{', 'v:', 'i:0', '.', 'f:'],
    ...['metadata', 'spec', 'status', 'data', 'name', 'kind', 'apiVersion', 'items', '0', '-1', '4294967295'],
    ...['\ud800', '\u0000', '\u2028', 'x'.repeat(300), 'kcp.io/cluster', 'resourceVersion', 'managedFields'],
  ),
  fc.string({ unit: 'binary', maxLength: 8 }),
)

export const hostileText: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.string({ unit: 'binary', maxLength: 20 }) },
  { weight: 3, arbitrary: hostileKey },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      ...[
        'default',
        'v1',
        'true',
        'null',
        '1',
        '10%',
        '-1',
        '0',
        '1Gi',
        '1e1000',
        '1E',
        '99999999999999999999Ei',
        'NaN',
      ],
      ...[
        'replace',
        'merge',
        'delete',
        'Always',
        'TCP',
        '*',
        '..',
        '/',
        '%',
        '%00',
        'ÿ',
        '\ud83d',
        '2020-01-01T00:00:00Z',
      ],
      ...[
        '9999-99-99T99:99:99Z',
        '-0001-01-01T00:00:00Z',
        '10.0.0.0/8',
        '::1/200',
        'Cg==',
        '!!!',
        '@every 1s',
        '* * * * *',
      ],
    ),
  },
  { weight: 1, arbitrary: fc.constantFrom('a'.repeat(5000), 'é'.repeat(40_000), '\u0000'.repeat(2000)) },
)

const hostileNumber: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(0, -1, 1, 0.5, 1e21, 1e300, 2 ** 31, -(2 ** 31) - 1, 2 ** 53, 2 ** 63, 65536, 80, 1e-7),
  fc.integer(),
  fc.constantFrom(...RAW).map(text => RAW_MARK + text),
)

const hostileLeaf: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, [], {}, [null], [[]], [{}], ''),
  hostileNumber,
  hostileText,
  fc.constantFrom(20, 200, 495, 510, 3000).map(depth => nested(depth)),
)

export const hostileValue: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>(tie => ({
  value: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'value' },
    { weight: 4, arbitrary: hostileLeaf },
    { weight: 1, arbitrary: fc.array(tie('value'), { maxLength: 4 }) },
    { weight: 2, arbitrary: fc.array(fc.tuple(hostileKey, tie('value')), { maxLength: 4 }).map(membersOf) },
  ),
})).value

/** An object with these members, whatever they are called. Repeated keys: the last one. */
export function membersOf(members: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  const object: Record<string, unknown> = {}
  for (const [key, value] of members) set(object, key, value)
  return object
}

function nested(depth: number): unknown {
  let value: unknown = 1
  for (let i = 0; i < depth; i++) value = i % 2 === 0 ? [value] : { a: value }
  return value
}

/** JSON text of a value, with numbers that JavaScript cannot hold. */
export function textOf(value: unknown): string {
  return (JSON.stringify(value) ?? 'null').replaceAll(/"\\u0001raw:([^"]*)"/g, '$1')
}

type Path = readonly string[]

/** Every place in a value, the value itself first. */
export function pathsOf(value: unknown, at: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [at]
  return [at, ...Object.entries(value).flatMap(([key, member]) => pathsOf(member, [...at, key]))]
}

/**
 * `base` with one to four places replaced, removed, exchanged for other parts of it, or given a member that is odd.
 * Nothing that is drawn is changed: leaves are shared by all that draw them, and would come to hold themselves.
 */
export function spoiled(base: unknown): fc.Arbitrary<unknown> {
  const paths = pathsOf(base).filter(path => path.length > 0)
  const place = fc.constantFrom(...paths)
  const change = fc.oneof(
    fc.record({ kind: fc.constant('replace' as const), at: place, value: hostileValue }),
    fc.record({ kind: fc.constant('remove' as const), at: place }),
    fc.record({ kind: fc.constant('copy' as const), at: place, from: place }),
    fc.record({ kind: fc.constant('add' as const), at: place, key: hostileKey, value: hostileValue }),
  )
  return fc.array(change, { minLength: 1, maxLength: 4 }).map(changes => {
    const copy = structuredClone(base) as Record<string, unknown>
    for (const one of changes) {
      const holder = ownHolder(copy, one.at.slice(0, -1))
      if (!holder) continue
      const last = one.at.at(-1)!
      if (one.kind === 'remove')
        Array.isArray(holder) ? holder.splice(Number(last), 1) : Reflect.deleteProperty(holder, last)
      else if (one.kind === 'replace') set(holder, last, one.value)
      else if (one.kind === 'copy') set(holder, last, read(base, one.from))
      else {
        const target = ownHolder(copy, one.at) ?? holder
        if (Array.isArray(target)) target.push(one.value)
        else set(target, one.key, one.value)
      }
    }
    return copy
  })
}

function read(value: unknown, path: Path): unknown {
  let at = value
  for (const key of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined
    at = (at as Record<string, unknown>)[key]
  }
  return at
}

/** Holder at `path` in `root`, all on the way to it copied: drawn values are shared. Nothing where it holds no members. */
function ownHolder(root: object, path: Path): object | undefined {
  let holder = root
  for (const key of path) {
    const member = read(holder, [key])
    if (typeof member !== 'object' || member === null) return undefined
    const mine = Array.isArray(member) ? [...(member as unknown[])] : { ...member }
    set(holder, key, mine)
    holder = mine
  }
  return holder
}

function set(holder: object, key: string, value: unknown): void {
  Object.defineProperty(holder, key, { value, writable: true, enumerable: true, configurable: true })
}
