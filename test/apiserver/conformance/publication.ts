/** The kinds of CustomResourcePublishOpenAPI, and what a server publishes of them. */
import type { Test } from 'tap'
import type { Api } from '../../support/api.ts'
import { type Crds, crdsIn } from '../../support/crds.ts'
import { goes } from './cluster.ts'

export const text = (description: string): object => ({ type: 'string', description })
export const OBJECT = { type: 'object' }
export const FOO = {
  type: 'object',
  description: 'Foo CRD for Testing',
  properties: {
    spec: {
      type: 'object',
      description: 'Specification of Foo',
      properties: {
        bars: {
          type: 'array',
          description: 'List of Bars and their specs.',
          items: {
            type: 'object',
            required: ['name'],
            properties: {
              name: text('Name of Bar.'),
              age: text('Age of Bar.'),
              feeling: { ...text('Whether Bar is feeling great.'), enum: ['Great', 'Down'] },
              bazs: { type: 'array', description: 'List of Bazs.', items: { type: 'string' } },
            },
          },
        },
      },
    },
    status: { type: 'object', description: 'Status of Foo', properties: { ready: { type: 'boolean' } } },
  },
}
export const WALDO_PROPERTIES = {
  spec: {
    type: 'object',
    description: 'Specification of Waldo',
    properties: { dummy: { ...OBJECT, description: 'Dummy property.' } },
  },
  status: {
    type: 'object',
    description: 'Status of Waldo',
    properties: { bars: { type: 'array', description: 'List of Bars and their statuses.', items: OBJECT } },
  },
}
export const WALDO = { type: 'object', description: 'Waldo CRD for Testing', properties: WALDO_PROPERTIES }
export const PRESERVES = { 'x-kubernetes-preserve-unknown-fields': true }

interface Version {
  name: string
  served: boolean
  storage: boolean
  schema: object
}
export interface Definition {
  metadata: { name: string }
  spec: { group: string; names: { plural: string; kind: string }; versions: Version[] }
}

/** A kind as the suite makes them: the first version is stored. */
export function definition(kind: string, suffix: string, schema: object, ...versions: string[]): Definition {
  const group = `crd-publish-openapi-test-${suffix}.example.com`
  const plural = `${kind.toLowerCase()}s`
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
      versions: versions.map((name, n) => ({
        name,
        served: true,
        storage: n === 0,
        schema: { openAPIV3Schema: schema },
      })),
    },
  } as Definition
}

interface Schema {
  properties?: Record<string, object>
  [keyword: string]: unknown
}

/** OpenAPI v2 of one server. */
export class Publication {
  readonly crds: Crds
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
    this.crds = crdsIn(api)
  }

  /** Document of a kind's version, without the fields of every object; `undefined` when there is none. */
  async of({ spec: { group, names } }: Definition, version: string): Promise<object | undefined> {
    const document = (await this.#api.ok(this.#api.get('/openapi/v2'))) as unknown as {
      definitions: Record<string, Schema>
    }
    const schema = document.definitions[[...group.split('.').reverse(), version, names.kind].join('.')]
    if (schema === undefined) return undefined
    const { 'x-kubernetes-group-version-kind': _, properties, ...own } = schema
    if (properties === undefined) return own
    const { apiVersion: __, kind: ___, metadata: ____, ...rest } = properties
    return { ...own, properties: rest }
  }

  /** Takes a definition away and sees that it is forgotten. */
  async cleanUp(t: Test, crd: Definition): Promise<void> {
    const path = this.crds.path(crd.metadata.name)
    await this.#api.ok(this.#api.delete(path))
    await goes(this.#api, path)
    for (const { name } of crd.spec.versions) t.equal(await this.of(crd, name), undefined)
  }
}
