/** Documents in YAML that are slow to read. */
import { type Attack, attack } from '../attack.ts'
import { crowd } from '../ground.ts'

const BYTES = 2_500_000
const HEAD = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: y-}\n'

function reading(name: string, does: string, document: (bytes: number) => string, hears?: readonly number[]): Attack {
  return attack(name, {
    does,
    ...(hears && { hears }),
    run: async ({ alice, space, size }) => {
      const body = HEAD + document(size(BYTES, 30_000))
      await crowd(size(12, 1), 6, () =>
        alice.send({ path: `${space.maps}?dryRun=All`, type: 'application/yaml', body }),
      )
    },
  })
}

function lines(bytes: number, line: (i: number) => string): string {
  const parts: string[] = []
  for (let i = 0, length = 0; length < bytes; i++) {
    const part = line(i)
    parts.push(part)
    length += part.length
  }
  return parts.join('')
}

export const yaml: readonly Attack[] = [
  reading('yaml-quotes', 'quotes and escapes', bytes => `data:\n  a: "${'\\"'.repeat(bytes / 2)}"\n`),
  reading(
    'yaml-merge-keys',
    'merge keys',
    bytes => `x: &x {a: b}\ndata:\n${lines(bytes, i => `  k${i}: {<<: *x}\n`)}`,
    [400],
  ),
  reading('yaml-many-keys', 'many keys', bytes => `data:\n${lines(bytes, i => `  k${i}: v\n`)}`),
  reading('yaml-tags', 'a tag for each value', bytes => `x: [${'!!str a,'.repeat(bytes / 8)}]\n`),
  reading('yaml-comments', 'comments and empty lines', bytes => `data: {a: b}\n${lines(bytes, () => '# c\n\n')}`),
  reading('yaml-deep', 'brackets in brackets', bytes => `x: ${'['.repeat(bytes / 2)}${']'.repeat(bytes / 2)}\n`, [400]),
  reading(
    'yaml-folded',
    'a folded text of many lines',
    bytes => `data:\n  a: >-\n${lines(bytes, () => '    x\n\n')}`,
    [201, 400, 413, 422],
  ),
]
