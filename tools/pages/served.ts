/** docs/reference/served.md: the built-in kinds, and the types of space. */
import { loadCatalog } from '../../src/apiserver/catalog/catalog.ts'
import { SPACE_TYPES } from '../../src/placement/spaces/spaceTypes.ts'
import { page, table } from './markdown.ts'

export function servedPage(): string {
  const { types, release } = loadCatalog()
  const isOwn = ({ form }: { form: string }): boolean => form === 'own'
  const own = new Map(types.filter(isOwn).map(({ group, resource, kind }) => [`${resource}.${group}`, kind]))
  const words = (names: Iterable<string>): string => Array.from(names, name => `\`${name}\``).join(', ')
  return page(
    '# Served kinds',
    'A reference for everybody, which `npm run pages` writes.',
    '## Types of space',
    "A [type](../spaces.md#types-of-space) decides which of Orrery's kinds a space serves, and which children it may have; the first is the default.",
    table(
      ['type', 'serves', 'children'],
      Array.from(SPACE_TYPES.values(), ({ name, serves, children }) => [
        `\`${name}\``,
        serves === undefined ? 'all' : words(Array.from(serves, each => own.get(each) ?? each)),
        words(children),
      ]),
    ),
    '## Built-in kinds',
    `Every space serves the stable kinds of Kubernetes ${release}.`,
    table(
      ['kind', 'API', 'resource', 'scope', 'sub-resources'],
      types
        .filter(type => !isOwn(type))
        .map(({ kind, group, version, resource, shortNames, namespaced, subresources }) => [
          kind,
          `\`${group === '' ? version : `${group}/${version}`}\``,
          words([resource, ...shortNames]),
          namespaced ? 'a namespace' : 'the space',
          subresources.join(', '),
        ]),
    ),
  )
}
