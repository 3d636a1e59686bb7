/** A host's requests as the road meets them: the rules that judge them first, and the answers that belong to no space. */
import type { SpaceClient } from '../../client/client.ts'
import { systemClock } from '../../client/clock.ts'
import type { HostRules } from '../access/forwarded.ts'
import type { HostEndpoint } from '../endpoints/dispatch.ts'
import { type PathEntry, Paths } from '../http/paths.ts'
import { type DocumentsDeps, documentPaths } from '../openapi/documentPaths.ts'
import type { Logger } from '../request/logger.ts'
import type { SpaceTree } from '../spaces/tree.ts'
import { HostAuthorizer } from './hostAuthorizer.ts'
import { HostKinds } from './hostKinds.ts'
import { HostTokens } from './hostTokens.ts'
import { type SpacesEndpointDeps, spacesEndpoint } from './spacesEndpoint.ts'

export interface HostDocumentsDeps extends Omit<DocumentsDeps, 'paths'> {
  /** Paths that tell of the server as a whole: probes and its version. */
  ofServer: readonly PathEntry[]
  /** Whether namespaced kinds are among those that the host sees. */
  namespaced: boolean
}

export interface HostFrontDeps extends HostDocumentsDeps {
  host: Pick<SpaceClient, 'create'>
  userPrefix: string
  log: Logger
  /** Path of the configured space. */
  space: string
  tree: SpaceTree
  authorizer: SpacesEndpointDeps['authorizer']
}

export interface HostFront {
  readonly rules: HostRules
  readonly endpoint: HostEndpoint
}

export function hostFront(deps: HostFrontDeps): HostFront {
  const { host, space, tree, userPrefix, log } = deps
  const paths = hostDocuments(deps, () => tree.idAt(space))
  const spaces = spacesEndpoint(deps)
  const tokens = new HostTokens({ host, userPrefix, clock: systemClock, log })
  const authorizer = new HostAuthorizer({ host, clock: systemClock })
  return {
    rules: {
      identify: token => tokens.identify(token),
      decide: forwarded => authorizer.decide(forwarded),
    },
    endpoint: (request, answer, authorized, target) =>
      target === 'spaces' ? spaces(request, answer, authorized) : paths.serve(request, answer, authorized),
  }
}

/** @param space id of the one that the host sees; `undefined` while none is known: then there are the kinds of all types of spaces */
export function hostDocuments(
  { types: all, ofServer, namespaced, ...deps }: HostDocumentsDeps,
  space: () => string | undefined,
): Paths {
  const types = new HostKinds(all, space, namespaced)
  const paths: Paths = new Paths([...ofServer, ...documentPaths({ ...deps, types, paths: id => paths.listed(id) })])
  return paths
}
