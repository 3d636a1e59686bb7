/** Kinds that are answered instead of stored: token and access reviews, and TokenRequest. */

import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { Schema } from '../../apimachinery/schema.ts'
import { objectMetaSchema } from '../../apimachinery/structural/objectMetaSchema.ts'
import { admitUnstored } from '../admission/unstored.ts'
import type { RbacAuthorizer } from '../auth/rbac.ts'
import {
  localSubjectAccessReview,
  reviewToken,
  selfSubjectAccessReview,
  selfSubjectReview,
  selfSubjectRulesReview,
  subjectAccessReview,
} from '../auth/reviews.ts'
import type { ObjectReader } from '../auth/serviceAccountAuthenticator.ts'
import type { TokenIssuer } from '../auth/serviceAccountTokens.ts'
import { DEFAULT_SECONDS, tokenRequest } from '../auth/tokenRequest.ts'
import type { Authenticator } from '../auth/types.ts'
import { objectOf } from '../operations/objectOf.ts'
import { decodeObject } from '../registry/codec.ts'
import { readBody } from './body.ts'
import { checkTypes } from './checkTypes.ts'
import { type Exchange, type Services, type SubresourceEndpoints, writeContext } from './exchange.ts'
import { methodNotAllowed } from './methods.ts'
import { requireKind } from './otherKinds.ts'
import { sendValue } from './respond.ts'

export interface ReviewDeps {
  authenticator: Authenticator
  authorizer: RbacAuthorizer
  issuer: TokenIssuer
  getObject: ObjectReader
  clock: () => Date
}

type Answer = (body: KubeObject, x: Exchange) => KubeObject | Promise<KubeObject>

export function reviewEndpoints(deps: ReviewDeps): SubresourceEndpoints {
  const { authenticator, authorizer, issuer } = deps
  const answer =
    (make: Answer) =>
    async (services: Services, x: Exchange): Promise<void> => {
      const sent = readBody(services, x)
      requireKind(services, x, sent)
      const body = objectOf(sent, x.type)
      // What comes back is what was asked and an answer, so it has to be of its kind.
      checkTypes(body, x.type)
      await admitUnstored(services.deps.admission, body, {
        context: writeContext(x),
        type: x.type,
        subresource: '',
        namespace: x.resource.namespace,
        name: '',
        settle: changed => checkTypes(changed, x.type),
      })
      await sendValue(services, x, 201, await make(body, x))
    }
  const context = (x: Exchange) => ({ space: x.space, user: x.user, authorizer })
  return {
    'authentication.k8s.io/tokenreviews': answer((body, x) =>
      reviewToken(body, { space: x.space, authenticator, audiences: issuer.audiences }),
    ),
    'authentication.k8s.io/selfsubjectreviews': answer((body, x) => selfSubjectReview(body, context(x))),
    'authorization.k8s.io/selfsubjectaccessreviews': answer((body, x) => selfSubjectAccessReview(body, context(x))),
    'authorization.k8s.io/selfsubjectrulesreviews': answer((body, x) => selfSubjectRulesReview(body, context(x))),
    'authorization.k8s.io/subjectaccessreviews': answer((body, x) => subjectAccessReview(body, context(x))),
    'authorization.k8s.io/localsubjectaccessreviews': answer((body, x) =>
      localSubjectAccessReview(body, { ...context(x), namespace: x.resource.namespace }),
    ),
    '/serviceaccounts/token': (services, x) => tokenEndpoint(services, x, deps),
  }
}

const TOKEN_REQUEST = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest' }
const TEXT: Schema = { type: 'string' }
const TOKEN_REQUEST_TYPE = {
  kind: 'TokenRequest',
  version: 'v1',
  schema: {
    type: 'object',
    properties: {
      apiVersion: TEXT,
      kind: TEXT,
      metadata: objectMetaSchema,
      spec: {
        type: 'object',
        properties: {
          audiences: { type: 'array', items: TEXT },
          boundObjectRef: { type: 'object', properties: { apiVersion: TEXT, kind: TEXT, name: TEXT, uid: TEXT } },
          expirationSeconds: { type: 'integer', format: 'int64' },
        },
      },
      status: { type: 'object', properties: { token: TEXT, expirationTimestamp: TEXT } },
    },
  },
} satisfies Pick<ResourceType, 'kind' | 'version' | 'schema'>

async function tokenEndpoint(services: Services, x: Exchange, deps: ReviewDeps): Promise<void> {
  if (x.info.verb !== 'create') throw methodNotAllowed(x.type, x.info.verb)
  const { namespace, name } = x.resource
  const sent = readBody(services, x, TOKEN_REQUEST)
  const body = objectOf(
    isRecord(sent) && sent.kind === undefined && sent.apiVersion === undefined ? { ...TOKEN_REQUEST, ...sent } : sent,
    x.type satisfies ResourceType,
    TOKEN_REQUEST,
  )
  checkTypes(body, TOKEN_REQUEST_TYPE)
  const spec = isRecord(body.spec) ? body.spec : {}
  // policies limit what is asked for, said or not
  body.spec = { ...spec, expirationSeconds: spec.expirationSeconds ?? DEFAULT_SECONDS }
  await admitUnstored(services.deps.admission, body, {
    context: writeContext(x),
    type: x.type,
    subresource: 'token',
    namespace,
    name,
    kind: { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' },
    settle: changed => checkTypes(changed, TOKEN_REQUEST_TYPE),
  })
  const stored = await services.reader.get(x.space, x.type, namespace, name)
  const context = {
    space: x.space,
    issuer: deps.issuer,
    getObject: deps.getObject,
    clock: () => deps.clock().getTime(),
  }
  await sendValue(services, x, 201, await tokenRequest(decodeObject(stored), body, context))
}
