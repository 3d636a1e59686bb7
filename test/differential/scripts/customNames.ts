/** Rules of a definition for the members of every object: their names, generated names, `kind`, `apiVersion`. */
import { apply, get, merge, post, type Rest, type Script, type Step } from '../script.ts'
import { of } from './bodies.ts'
import { CRDS, definition, made, pathOf } from './gadgets.ts'

const text = { type: 'string' }
const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
const WITH_STATUS = { subresources: { status: {} } }
const schema = (metadata: object, members: object = {}): object => ({
  openAPIV3Schema: {
    type: 'object',
    properties: { metadata: { type: 'object', properties: metadata }, spec: open, status: open, ...members },
  },
})
const named = (metadata: object): object => ({ apiVersion: 'nameds.example.com/v1', kind: 'Named', metadata })
const N = pathOf('nameds')

const TOO_LONG: Rest = {
  unlike120: { 'body.message': 'too long has a word of its own since 1.33', 'body.details.causes.*': 'as above' },
}
const STEADY: Rest = { unlike120: { '': '1.30: what did not change may stay wrong' } }
const REASONS: Rest = { unlike120: { 'body.details.causes.0.reason': '1.26: a wrong type has a reason of its own' } }
const RULES: Rest = { unlike120: { '': '1.25: rules' } }
const refused = (plural: string, kind: string, metadata: object): Step =>
  post(CRDS, definition(plural, kind, { schema: { openAPIV3Schema: { type: 'object', properties: { metadata } } } }))

export const customNames: Script = {
  name: 'custom-names',
  peers: ['kube-apiserver', 'apiextensions'],
  steps: [
    ...made('nameds', 'Named', {
      ...WITH_STATUS,
      schema: schema({ name: { ...text, pattern: '^a', maxLength: 9 }, generateName: { ...text, maxLength: 3 } }),
    }),
    post(N, named({ name: 'a', labels: { l: 'm' } })),
    post(N, named({ name: 'b' })),
    post(N, named({ name: 'abcdefghij' }), TOO_LONG),
    post(N, named({ name: 'Ab' })),
    post(N, named({ name: 'B_b' })),
    post(N, named({ name: 'ab', generateName: 'bbbb' }), TOO_LONG),
    post(N, named({ generateName: 'aa' }), { only: ['code', 'metadata.generateName'] }),
    post(N, named({ generateName: 'b' }), { only: ['code', 'reason', 'details.causes.0.field'] }),
    post(N, named({})),
    apply(`${N}/b?fieldManager=m`, named({ name: 'b' })),
    merge(`${N}/a`, { metadata: { generateName: 'long' } }, TOO_LONG),
    merge(`${N}/a`, { metadata: { generateName: 'x' } }),
    // those who have a name keep it
    merge(
      `${CRDS}/nameds.nameds.example.com`,
      {
        spec: {
          versions: [
            {
              name: 'v1',
              served: true,
              storage: true,
              ...WITH_STATUS,
              schema: schema({ name: { ...text, pattern: '^b' } }),
            },
          ],
        },
      },
      { only: ['code', 'metadata.generation'] },
    ),
    post(`${N}?dryRun=All`, named({ name: 'ac' }), { late: 422 }),
    merge(`${N}/a`, { spec: { a: 1 } }, STEADY),
    merge(`${N}/a/status`, { status: { a: 1 } }, STEADY),
    merge(`${N}/a`, { metadata: { generateName: 'longer' } }, STEADY),
    // kind and version
    ...made('roots', 'Root', {
      schema: schema({}, { kind: { ...text, minLength: 5 } }),
    }),
    post(pathOf('roots'), of('roots.example.com/v1', 'Root', 'a')),
    ...made('stems', 'Stem', { schema: schema({}, { apiVersion: { ...text, enum: ['x'] } }) }),
    post(pathOf('stems'), of('stems.example.com/v1', 'Stem', 'a')),
    // rules
    ...made('judgeds', 'Judged', {
      schema: schema({ name: { ...text, 'x-kubernetes-validations': [{ rule: "self != 'x'", message: 'not x' }] } }),
    }),
    post(pathOf('judgeds'), of('judgeds.example.com/v1', 'Judged', 'x'), RULES),
    post(pathOf('judgeds'), of('judgeds.example.com/v1', 'Judged', 'y')),
    // what cannot be true of any name
    ...made('numbers', 'Number', { schema: schema({ name: { type: 'integer' } }) }),
    post(pathOf('numbers'), of('numbers.example.com/v1', 'Number', 'x'), REASONS),
    apply(`${pathOf('numbers')}/x?fieldManager=m`, of('numbers.example.com/v1', 'Number', 'x'), REASONS),
    // what no definition may say
    refused('others', 'Other', { type: 'object', properties: { labels: { type: 'object' } } }),
    refused('others', 'Other', { type: 'object', required: ['name'], properties: { name: text } }),
    refused('others', 'Other', { type: 'object', properties: { name: { ...text, default: 'x' } } }),
    // embedded objects may say more
    ...made('holders', 'Holder', {
      schema: schema(
        {},
        {
          held: {
            type: 'object',
            'x-kubernetes-embedded-resource': true,
            'x-kubernetes-preserve-unknown-fields': true,
            properties: {
              metadata: {
                type: 'object',
                required: ['labels'],
                properties: {
                  name: { ...text, pattern: '^a' },
                  labels: { type: 'object', additionalProperties: text },
                },
              },
            },
          },
        },
      ),
    }),
    ...[
      { name: 'a', labels: { l: 'm' }, annotations: { n: 'o' } },
      { name: 'b', labels: { l: 'm' } },
      { name: 'a' },
    ].map(metadata =>
      post(
        `${pathOf('holders')}?dryRun=All`,
        of('holders.example.com/v1', 'Holder', 'x', { held: { apiVersion: 'v1', kind: 'X', metadata } }),
      ),
    ),
    get(`${N}?labelSelector=l%3Dm`, { only: ['items.*.metadata.name'] }),
  ],
}
