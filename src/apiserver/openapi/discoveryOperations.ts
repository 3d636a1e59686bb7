/** The operations that are about no resource: discovery, the version, the issuer of ServiceAccount tokens. */
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { servedGroups } from '../discovery/groups.ts'
import type { Operation } from './operation.ts'
import { ALL_TYPES, idPrefix, tagOf } from './wording.ts'

/** Each by the document of version 3 that tells of it; those of group versions are in {@link resourceListOperation}. */
export function discoveryOperations(types: readonly ResourceType[]): Map<string, Operation> {
  const operations = new Map<string, Operation>()
  for (const { group } of servedGroups(types)) {
    if (group === '') {
      operations.set('api', discovery('/api/', 'available API versions', 'apiVersions', 'getCoreAPIVersions', 'core'))
      continue
    }
    const id = `get${idPrefix(group)}APIGroup`
    operations.set(
      `apis/${group}`,
      discovery(`/apis/${group}/`, 'information of a group', 'apiGroup', id, tagOf(group)),
    )
  }
  for (const [name, operation] of FIXED) operations.set(name, operation)
  return operations
}

/** The list of what a group version serves. */
export function resourceListOperation(group: string, version: string): Operation {
  const path = group === '' ? `/api/${version}/` : `/apis/${group}/${version}/`
  const id = `get${idPrefix(group, version)}APIResources`
  return discovery(path, 'available resources', 'apiResourceList', id, tagOf(group, version))
}

function discovery(path: string, what: string, answer: Operation['answer'], id: string, tag: string): Operation {
  return {
    path,
    method: 'get',
    id,
    description: `get ${what}`,
    tag,
    answer,
    consumes: ALL_TYPES,
    produces: ALL_TYPES,
    parameters: [],
  }
}

function fixed(path: string, what: string, type: string, id: string, tag: string): Operation {
  return { ...discovery(path, what, 'text', id, tag), consumes: [], produces: [type] }
}

const ISSUER = '.well-known/openid-configuration'
const KEYS = 'openid/v1/jwks'
const FIXED: ReadonlyMap<string, Operation> = new Map([
  ['apis', discovery('/apis/', 'available API versions', 'apiGroupList', 'getAPIVersions', 'apis')],
  [
    'version',
    {
      ...discovery('/version/', 'the version of the server', 'version', 'getCodeVersion', 'version'),
      consumes: ['application/json'],
      produces: ['application/json'],
    },
  ],
  [
    ISSUER,
    fixed(
      `/${ISSUER}`,
      'the OpenID configuration of the issuer of ServiceAccount tokens',
      'application/json',
      'getServiceAccountIssuerOpenIDConfiguration',
      'WellKnown',
    ),
  ],
  [
    KEYS,
    fixed(
      `/${KEYS}`,
      'the public keys of ServiceAccount tokens, as a JSON Web Key Set',
      'application/jwk-set+json',
      'getServiceAccountIssuerOpenIDKeyset',
      'openid',
    ),
  ],
])
