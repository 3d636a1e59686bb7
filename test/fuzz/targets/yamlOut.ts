/** Whatever is stored comes out as YAML that means the same: texts that look like something else, odd keys, large lists. */
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { parse } from 'yaml'
import { hostileText } from '../hostile.ts'
import type { Target } from '../target.ts'
import type { World } from '../world.ts'

/** Texts that a careless writer does not quote. */
const text = fc.oneof(
  hostileText,
  fc.constantFrom(
    ...[
      'yes',
      'no',
      'on',
      'off',
      'null',
      '~',
      'true',
      '.inf',
      '-.INF',
      '.nan',
      '0x1f',
      '0o17',
      '1e3',
      '1_000',
      '12:30:45',
    ],
    ...[
      '2020-01-01',
      '- a',
      '? a',
      'a: b',
      'a #b',
      '# a',
      '&a',
      '*a',
      '!a',
      '|',
      '>',
      '%a',
      '@a',
      '`a',
      '"',
      "'",
      '{a',
      '[a',
    ],
    ...[
      ' a',
      'a ',
      '\ta',
      'a\n',
      'a\n\n',
      '\na',
      'a\n b\n',
      ' a\nb',
      'a\r\nb',
      '\u0085',
      '\u2028',
      '\ufeff',
      '---',
      '...',
      '=',
      '<<',
    ],
  ),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc
    .tuple(fc.constantFrom('a', ' ', '\n', 'é', '"'), fc.constantFrom(79, 80, 81, 128, 70_000))
    .map(([one, times]) => one.repeat(times)),
)
const key = fc.oneof(
  fc.constantFrom('a', 'yes', '1', '0x1', 'null', '-', '.', '_', '1e3', '12', 'a.b', '-a'),
  fc.stringMatching(/^[-._a-zA-Z0-9]{1,20}$/),
)
const cases = fc.record({
  data: fc.dictionary(key, text, { maxKeys: 6 }),
  annotations: fc.dictionary(fc.constantFrom('a', 'b', 'c'), text, { maxKeys: 3 }),
  copies: fc.constantFrom(1, 1, 1, 20),
  query: fc.constantFrom('', '?limit=3', '?pretty=true', '?labelSelector=a%3Db'),
})
type Case = typeof cases extends fc.Arbitrary<infer T> ? T : never

async function play(world: World, { data, annotations, copies, query }: Case): Promise<void> {
  const maps = `/clusters/${world.spaces.alice}/api/v1/namespaces/default/configmaps`
  const as = 'alice'
  const names = Array.from({ length: copies }, (_, i) => `y-${i}`)
  const stored: string[] = []
  for (const name of names) {
    const body = JSON.stringify({ metadata: { name, annotations, labels: { a: 'b' } }, data })
    const { code } = await world.ask({ method: 'POST', path: maps, as, type: 'application/json', body })
    if (code === 201) stored.push(name)
  }
  for (const path of [maps + query, ...stored.slice(0, 1).map(name => `${maps}/${name}`)]) {
    const honest = await world.ask({ method: 'GET', path, as })
    const yaml = await world.ask({ method: 'GET', path, as, headers: { Accept: 'application/yaml' } })
    if (honest.code !== 200 || yaml.code !== 200) throw new Error(`${path}: ${honest.code} and ${yaml.code}`)
    const read = parse(yaml.text, { version: '1.1', maxAliasCount: 0 }) as unknown
    if (!isDeepStrictEqual(ofNoMoment(JSON.stringify(read)), ofNoMoment(honest.text)))
      throw new Error(`YAML says something else than JSON:\n${yaml.text.slice(0, 3000)}\n${honest.text.slice(0, 3000)}`)
  }
  for (const name of stored) await world.ask({ method: 'DELETE', path: `${maps}/${name}`, as })
}

/** Without the revision and the continue token of a list, which are of the moment. */
function ofNoMoment(text: string): unknown {
  const object = JSON.parse(text) as { items?: unknown; metadata?: Record<string, unknown> }
  if (object.items === undefined) return object
  const { resourceVersion, continue: next, ...metadata } = object.metadata ?? {}
  return { ...object, metadata: { ...metadata, isRevised: resourceVersion !== '', hasMore: next !== undefined } }
}

export const yamlOut: Target = {
  name: 'yamlOut',
  runs: 60,
  property: world => fc.asyncProperty(cases, one => play(world, one)) as ReturnType<Target['property']>,
}
