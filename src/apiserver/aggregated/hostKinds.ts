/**
 * The kinds that a host cluster sees of this server: those of two group versions, as far as they are cluster-scoped, and `spaces`.
 *
 * Namespaced kinds stay behind `spaces/<name>/proxy` unless the administrator wants them. The namespaces of the host are not those of the space.
 * Discovery names no `watch`, and no deletion of namespaced kinds, though each kind has all of these. Two controllers of the host act on
 * these verbs and have no rights here. The garbage collector would stand still for all kinds of the host; a namespace would never end.
 */
import { getOrInsert } from '../../apimachinery/getOrInsert.ts'
import { WORKSPACES } from '../../apimachinery/resources.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { Schema } from '../../apimachinery/schema.ts'
import { type TypeRegistry, type TypeSet, typeSetOf } from '../types/typeRegistry.ts'

/** APIServices of the host lead here. */
export const HOST_GROUP_VERSIONS = [
  { group: 'edge.kubestellar.io', version: 'v2alpha1' },
  { group: WORKSPACES.group, version: WORKSPACES.version },
] as const

const SCHEMA: Schema = {
  type: 'object',
  description: 'A space that its reader may enter.',
  properties: {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: { type: 'object' },
    spec: {
      type: 'object',
      description: 'The space.',
      properties: {
        id: { type: 'string', description: 'The id of the space, which stays when another space gets its path.' },
        type: { type: 'string', description: 'The type of the space.' },
      },
    },
    status: {
      type: 'object',
      description: 'How the space is reached.',
      properties: {
        proxyPath: {
          type: 'string',
          description: 'The path of its API at the host: the server of a kubeconfig ends in it.',
        },
      },
    },
  },
} as Schema

/** Answered by `spacesEndpoint.ts`, and known to no space. */
export const SPACES: ResourceType = {
  group: WORKSPACES.group,
  version: WORKSPACES.version,
  resource: 'spaces',
  singular: 'space',
  kind: 'Space',
  listKind: 'SpaceList',
  shortNames: [],
  categories: [],
  namespaced: false,
  verbs: ['get', 'list'],
  storageVersion: WORKSPACES.version,
  subresources: [],
  schema: SCHEMA,
  columns: [
    { name: 'Type', type: 'string', jsonPath: '.spec.type', description: 'The type of the space.' },
    { name: 'Path', type: 'string', jsonPath: '.status.proxyPath', description: 'Its API at the host.' },
  ],
  selectableFields: [],
  form: 'custom',
  custom: { schemas: new Map([[WORKSPACES.version, SCHEMA]]), generation: 1 },
}

export class HostKinds {
  readonly #types: Pick<TypeRegistry, 'in'>
  readonly #space: () => string | undefined
  readonly #isNamespaced: boolean
  /** By what they are made of. */
  readonly #made = new WeakMap<TypeSet, TypeSet>()

  /** @param space id of the space that the kinds are of; `undefined` while there is none */
  constructor(types: Pick<TypeRegistry, 'in'>, space: () => string | undefined, isNamespaced: boolean) {
    this.#types = types
    this.#space = space
    this.#isNamespaced = isNamespaced
  }

  /** The same for every space: documents of the host belong to none. */
  in(_space: string): TypeSet {
    const set = this.#types.in(this.#space() ?? '')
    return getOrInsert(this.#made, set, () => {
      const shown = set.types.filter(type => isHostKind(type) && (this.#isNamespaced || !type.namespaced))
      return typeSetOf([...shown.map(asHostSees), SPACES])
    })
  }
}

function isHostKind({ group, version, form }: ResourceType): boolean {
  return form === 'own' && HOST_GROUP_VERSIONS.some(gv => gv.group === group && gv.version === version)
}

function asHostSees(type: ResourceType): ResourceType {
  const hidden = type.namespaced ? ['watch', 'delete', 'deletecollection'] : ['watch']
  return { ...type, verbs: type.verbs.filter(verb => !hidden.includes(verb)) }
}
