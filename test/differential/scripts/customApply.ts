/** Server-side apply and field ownership on a kind with lists and maps of all types. */
import { apply, get, inWords, json, merge, noted, post, put, type Script } from '../script.ts'
import { of } from './bodies.ts'
import { made, pathOf } from './gadgets.ts'

const A = pathOf('applieds')
const applied = (name: string, spec: unknown, rest: object = {}, metadata: object = {}): object =>
  of('applieds.example.com/v1', 'Applied', name, { spec, ...rest }, metadata)
const as = (manager: string, rest = ''): string => `?fieldManager=${manager}${rest}`

export const customApply: Script = {
  name: 'custom-apply',
  peers: ['apiextensions'],
  managedFields: true,
  steps: noted(
    [
      ...made('applieds', 'Applied', {
        subresources: {
          status: {},
          scale: {
            specReplicasPath: '.spec.size',
            statusReplicasPath: '.status.replicas',
            labelSelectorPath: '.status.selector',
          },
        },
      }),
      apply(`${A}/a`, applied('a', { size: 1 })),
      apply(`${A}/a${as('')}`, applied('a', { size: 1 })),
      apply(
        `${A}/a${as('one')}`,
        applied('a', {
          size: 1,
          set: ['x', 'y'],
          list: [{ name: 'p', value: '1' }],
          ports: [{ port: 80 }],
          map: { k: 1 },
          whole: { a: '1' },
          atoms: ['1'],
          open: { free: { deep: 1 }, known: 2 },
          embedded: { apiVersion: 'v1', kind: 'X', metadata: { name: 'e', labels: { l: '1' } } },
        }),
      ),
      apply(`${A}/a${as('one')}`, applied('a', { size: 1, set: ['x', 'y'], list: [{ name: 'p', value: '1' }] })),
      apply(
        `${A}/a${as('two')}`,
        applied('a', {
          set: ['y', 'z'],
          list: [{ name: 'q', value: '2' }],
          ports: [
            { port: 80, protocol: 'UDP' },
            { port: 80, protocol: 'TCP', name: 'http' },
          ],
          map: { l: 2 },
        }),
      ),
      apply(`${A}/a${as('two')}`, applied('a', { size: 2, color: 'blue', list: [{ name: 'p', value: 'other' }] })),
      apply(`${A}/a${as('two', '&force=true')}`, applied('a', { size: 2, list: [{ name: 'p', value: 'other' }] })),
      apply(`${A}/a${as('one')}`, applied('a', { set: [] })),
      apply(`${A}/a${as('one')}`, applied('a', {})),
      apply(`${A}/a${as('two')}`, applied('a', null)),
      get(`${A}/a`),
      apply(`${A}/a${as('three')}`, applied('a', { set: ['a', 'a'] })),
      apply(`${A}/a${as('three')}`, applied('a', { list: [{ name: 'a' }, { name: 'a' }] })),
      apply(`${A}/a${as('three')}`, applied('a', { list: [{ value: 'a' }] })),
      apply(`${A}/a${as('three')}`, applied('a', { list: {} })),
      apply(`${A}/a${as('three')}`, applied('a', { size: 'x' })),
      apply(`${A}/a${as('three')}`, applied('a', { unknown: 'x' })),
      apply(`${A}/a${as('three', '&fieldValidation=Strict')}`, applied('a', { unknown: 'x' })),
      apply(`${A}/a${as('three')}`, applied('a', { size: 1000 })),
      apply(`${A}/a${as('three')}`, applied('b', {})),
      apply(`${A}/a${as('three')}`, applied('a', {}, {}, { managedFields: [] })),
      apply(`${A}/a${as('three')}`, applied('a', {}, {}, { managedFields: [{ manager: 'x' }] })),
      apply(`${A}/a${as('three')}`, applied('a', {}, {}, { resourceVersion: '1' })),
      apply(`${A}/a${as('three')}`, applied('a', {}, {}, { uid: 'x' })),
      apply(`${A}/a${as('three')}`, { kind: 'Applied', metadata: { name: 'a' } }),
      apply(`${A}/a${as('three')}`, { apiVersion: 'applieds.example.com/v1', metadata: { name: 'a' } }),
      apply(`${A}/a${as('three')}`, of('applieds.example.com/v2', 'Applied', 'a', {})),
      apply(`${A}/a${as('three')}`, of('applieds.example.com/v1', 'Other', 'a', {})),
      apply(`${A}/a${as('three')}`, []),
      apply(`${A}/a${as('x'.repeat(129))}`, applied('a', {})),
      apply(`${A}/a${as('a%0Ab')}`, applied('a', {})),
      apply(`${A}/a${as('three', '&force=maybe')}`, applied('a', {})),
      merge(`${A}/a?force=true`, { spec: {} }),
      apply(`${A}/new${as('one', '&dryRun=All')}`, applied('new', { size: 1 })),
      get(`${A}/new`),
      post(
        `${A}${as('maker')}`,
        applied('m', { size: 1, list: [{ name: 'x' }], set: ['a'] }, { status: { phase: 'x' } }),
      ),
      merge(`${A}/m${as('maker')}`, { spec: { size: 2 } }),
      merge(`${A}/m${as('other')}`, { spec: { size: null, color: 'blue', list: [{ name: 'y' }] } }),
      json(`${A}/m${as('other')}`, [{ op: 'add', path: '/spec/set/-', value: 'b' }]),
      merge(`${A}/m/status${as('reporter')}`, { status: { phase: 'Up', conditions: [{ type: 'R', status: 'True' }] } }),
      apply(
        `${A}/m/status${as('reporter')}`,
        of('applieds.example.com/v1', 'Applied', 'm', { status: { conditions: [{ type: 'S', status: 'True' }] } }),
      ),
      apply(
        `${A}/m/status${as('second')}`,
        of('applieds.example.com/v1', 'Applied', 'm', {
          spec: { size: 9 },
          status: { phase: 'Down', conditions: [{ type: 'S', status: 'False' }] },
        }),
      ),
      apply(
        `${A}/m${as('second')}`,
        applied('m', { flag: true }, { status: { phase: 'ignored' } }, { labels: { l: '1' }, finalizers: ['e.com/f'] }),
      ),
      apply(`${A}/m${as('second')}`, applied('m', { size: 8 })),
      merge(`${A}/m${as('clearer')}`, { metadata: { managedFields: [{}] } }),
      get(`${A}/m`),
      apply(`${A}/m${as('second', '&force=true')}`, applied('m', { size: 8 })),
      put(`${A}/m${as('putter')}`, applied('m', { size: 3 }, {}, { resourceVersion: '1' })),
      merge(`${A}/m${as('clearer')}`, { metadata: { finalizers: null, ownerReferences: [], labels: null } }),
      get(`${A}/m`),
      apply(
        `${A}/yaml${as('one')}`,
        'apiVersion: applieds.example.com/v1\nkind: Applied\nmetadata:\n  name: yaml\nspec:\n  size: 010\n  either: 5\n  flag: yes\n  maybe: ~\n  secret: 2020\n',
      ),
      apply(
        `${A}/dup${as('one')}`,
        'apiVersion: applieds.example.com/v1\nkind: Applied\nmetadata:\n  name: dup\nspec:\n  size: 1\n  size: 2\n',
      ),
    ],
    {
      "a configuration that cannot be applied is the client's mistake; its namespace is that of the URL": [
        13, 14, 15, 16, 17, 18, 19, 52,
      ],
      'it tells it twice': [inWords(25)],
    },
  ),
}
