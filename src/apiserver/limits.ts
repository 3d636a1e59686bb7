/** Defaults of docs/reference/limits.md, from the constants of this room. `npm run pages` writes them there. */

import * as jsonInSteps from '../apimachinery/jsonInSteps.ts'
import * as jsonPath from '../apimachinery/jsonPath.ts'
import { binary, bytes, count, duration, type Limits } from '../apimachinery/limits.ts'
import * as objectSize from '../apimachinery/objectSize.ts'
import * as effort from '../apimachinery/structural/effort.ts'
import * as statusLimit from '../placement/outcome/statusLimit.ts'
import * as loopShare from '../program/loopShare.ts'
import * as threadPool from '../program/threadPool.ts'
import * as celAuthorizer from './admission/celAuthorizer.ts'
import * as expressionRunner from './admission/expressionRunner.ts'
import * as fromCel from './admission/fromCel.ts'
import * as limitRanger from './admission/limitRanger.ts'
import * as mutatingPolicies from './admission/mutatingPolicies.ts'
import * as podSecurity from './admission/podSecurity/podSecurity.ts'
import * as policyVerdict from './admission/policyVerdict.ts'
import * as settingsLimit from './admission/settingsLimit.ts'
import * as webhookCalls from './admission/webhookCalls.ts'
import * as webhookClient from './admission/webhookClient.ts'
import * as webhooks from './admission/webhooks.ts'
import * as webhookTrust from './admission/webhookTrust.ts'
import * as workspaces from './admission/workspaces.ts'
import * as assembly from './assembly.ts'
import * as aggregation from './auth/aggregation.ts'
import * as certificateSigner from './auth/certificateSigner.ts'
import * as escalation from './auth/escalation.ts'
import * as fetchJson from './auth/fetchJson.ts'
import * as issuerKeys from './auth/issuerKeys.ts'
import * as rbacReader from './auth/rbacReader.ts'
import * as reviewLimits from './auth/reviewLimits.ts'
import * as reviews from './auth/reviews.ts'
import * as tokenRequest from './auth/tokenRequest.ts'
import * as union from './auth/union.ts'
import * as bindingAdmission from './authority/bindingAdmission.ts'
import * as placementAdmission from './authority/placementAdmission.ts'
import * as reportLimit from './authority/reportLimit.ts'
import * as backupPath from './backup/backupPath.ts'
import * as strangerLimits from './connections/strangerLimits.ts'
import * as servedDefinitions from './definitions/servedDefinitions.ts'
import * as spaceStream from './endpoints/spaceStream.ts'
import * as watch from './endpoints/watch.ts'
import * as webSockets from './endpoints/webSockets.ts'
import * as compression from './exchange/answers/compression.ts'
import * as listAnswers from './exchange/answers/listAnswers.ts'
import * as streamWriter from './exchange/answers/streamWriter.ts'
import * as warningHeaders from './exchange/answers/warningHeaders.ts'
import * as webSocketSink from './exchange/answers/webSocketSink.ts'
import * as bigYaml from './exchange/bodies/bigYaml.ts'
import * as longBodies from './exchange/bodies/longBodies.ts'
import * as yamlBody from './exchange/bodies/yamlBody.ts'
import * as flowControl from './flowcontrol/flowControl.ts'
import * as heldRequests from './flowcontrol/heldRequests.ts'
import * as inFlight from './flowcontrol/inFlight.ts'
import * as runningRequests from './flowcontrol/runningRequests.ts'
import * as watchBudget from './flowcontrol/watchBudget.ts'
import * as httpServer from './http/httpServer.ts'
import * as negotiate from './http/negotiate.ts'
import * as requestBody from './http/requestBody.ts'
import * as requestLines from './http/requestLines.ts'
import * as answeredLog from './registry/answeredLog.ts'
import * as answeredReader from './registry/answeredReader.ts'
import * as convertedViews from './registry/convertedViews.ts'
import * as firstErrors from './registry/firstErrors.ts'
import * as largeWrites from './registry/largeWrites.ts'
import * as longChecks from './registry/longChecks.ts'
import * as provenance from './registry/provenance.ts'
import * as selection from './registry/selection.ts'
import * as views from './registry/views.ts'
import * as diskRoom from './shortage/diskRoom.ts'
import * as memoryRoom from './shortage/memoryRoom.ts'
import * as table from './tables/table.ts'

export const LIMITS: Limits = {
  'body of a request': bytes(requestBody.BODY_LIMIT_BYTES),
  'request by which a syncer reports a status; the status': `${bytes(reportLimit.REPORT_LIMIT_BYTES)}; ${bytes(statusLimit.STATUS_LIMIT_BYTES)}`,
  'fields and elements of what is written at once; bytes of that, or of what is there': `${count(largeWrites.LARGE_VALUES)}; ${bytes(largeWrites.LARGE_BYTES)}`,
  'JSON that is parsed in pieces, those of all spaces in turn': `from ${bytes(longBodies.STEPS_BYTES)} on, ${bytes(jsonInSteps.PIECE)} each`,
  'entries of an `Accept` header; parameters of each': `${count(negotiate.ENTRIES_LIMIT)}; ${count(negotiate.PARAMETERS_LIMIT)}`,
  'URL and headers together': bytes(httpServer.HEADERS_LIMIT_BYTES),
  'YAML that is read by a thread of its own': `from ${bytes(bigYaml.BIG_BYTES)} on, or with aliases`,
  'YAML of one space in line for a thread': `${count(threadPool.LINE)} documents`,
  'time for one of them, memory': `${duration(bigYaml.LIMIT_MS)} of the processor, ${assembly.THREAD_LIMITS.maxOldGenerationSizeMb} MiB`,
  'aliases of a YAML body': count(yamlBody.ALIAS_LIMIT),
  'time for the TLS handshake; the headers; the body': `${duration(httpServer.HANDSHAKE_TIMEOUT_MS)}; ${duration(httpServer.HEADERS_TIMEOUT_MS)}; ${duration(httpServer.REQUEST_TIMEOUT_MS)}`,
  'requests of a connection without an answer': `${count(requestLines.OPEN_REQUESTS)}; one more ends the connection`,
  'bytes that are read behind a request without an answer': bytes(requestLines.READ_AHEAD_BYTES),
  'time in which a client takes an answer': `${duration(httpServer.ANSWER_TIMEOUT_MS)}, not for watches`,
  'requests at a time': `${count(inFlight.DEFAULT_IN_FLIGHT.reading)} reading and ${count(inFlight.DEFAULT_IN_FLIGHT.mutating)} changing, together, divided among priority levels`,
  'wait for a turn': `${duration(flowControl.WAIT_LIMIT_MS)}, or a quarter of \`?timeout=\``,
  'requests of a space that wait for a webhook or for a slow client': `${count(heldRequests.DEFAULT_HELD.space.requests)}, ${bytes(heldRequests.DEFAULT_HELD.space.bytes)}; half of that for a user in it`,
  'the same of a space with all spaces below it': `${count(heldRequests.SUBTREE * heldRequests.DEFAULT_HELD.server.requests)}, ${bytes(heldRequests.SUBTREE * heldRequests.DEFAULT_HELD.server.bytes)}`,
  'the same of the whole server': `${count(heldRequests.DEFAULT_HELD.server.requests)}, ${bytes(heldRequests.DEFAULT_HELD.server.bytes)}; a 64th of it is kept for each tenant that holds less`,
  'watches and space streams': count(inFlight.DEFAULT_IN_FLIGHT.watching),
  "those of one space or user; for syncers alone; of one mailbox's syncer": `a quarter (${count(watchBudget.SHARE * inFlight.DEFAULT_IN_FLIGHT.watching)}); a quarter (${count(watchBudget.FOR_SYNCERS * inFlight.DEFAULT_IN_FLIGHT.watching)}); ${count(watchBudget.SYNCER_SHARE * inFlight.DEFAULT_IN_FLIGHT.watching)}`,
  'of a space with all below it; of each of these': `a quarter; half of its parent's, at least ${count(watchBudget.LEAST_SHARE * inFlight.DEFAULT_IN_FLIGHT.watching)}`,
  "requirements and values of a request's selectors": count(selection.MAX_PARTS),
  'those that count as one more watch': count(watchBudget.SELECTOR_PARTS),
  'what watches have in hand that nobody reads: of a user in a space; of a space; with all below it; of the server': `${bytes(runningRequests.UNREAD.userBytes!)}, some 170 watches; ${bytes(runningRequests.UNREAD.space.bytes)}; ${bytes(heldRequests.SUBTREE * runningRequests.UNREAD.server.bytes)}; ${bytes(runningRequests.UNREAD.server.bytes)}`,
  'frames on their way to one watch; over WebSocket': `${bytes(streamWriter.WAITING_LIMIT_BYTES)}; ${bytes(webSocketSink.WAITING_LIMIT_BYTES)}; and one frame`,
  'a watch without `timeoutSeconds`; a space stream': `${count(watch.DEFAULT_TIMEOUT_SECONDS)} to ${duration(2 * spaceStream.LIFETIME_MS)}`,
  '`timeoutSeconds` of a watch': `${count(watch.LONGEST_TIMEOUT_SECONDS)} s`,
  'backups at a time; least pace of its client': `1; ${bytes(backupPath.LEAST_PACE.bytes)} in ${duration(backupPath.LEAST_PACE.ms)}`,
  'bookmarks of watches that want them; of space streams': `every ${duration(watch.BOOKMARK_INTERVAL_MS)}; every ${duration(spaceStream.BOOKMARK_INTERVAL_MS)}`,
  'pings over WebSocket; messages of clients': `every ${duration(webSockets.PING_INTERVAL_MS)}, to be answered; ${bytes(webSockets.MESSAGE_LIMIT_BYTES)}`,
  'lists that are indented (`pretty`)': bytes(listAnswers.PRETTY_LIMIT_BYTES),
  'answers that are compressed at a time; that wait for it': `blocks of ${bytes(compression.BLOCK_BYTES)} of ${count(compression.SEATS)}; ${count(compression.CROWD)} answers, or ${bytes(compression.CROWD_BYTES)}`,
  'warnings in one answer; each, once they are more': `${count(warningHeaders.LIMIT)} characters; ${count(warningHeaders.CUT)}`,
  'end of the server': `${duration(httpServer.DRAIN_MS)} for running requests`,
  'errors of a large object; their characters': `${count(firstErrors.MAX_ERRORS)}; ${bytes(firstErrors.MAX_CHARACTERS)}`,
  "an object's list of fields that no author set": bytes(provenance.MAX_NOTE),
  'rules of LimitRanges times containers': count(limitRanger.MOST_WORK),
  'Pods that a stricter Pod Security label of their Namespace is compared with': `${count(podSecurity.MAX_PODS)}, as in Kubernetes`,
  'spaces below one another, `root` aside': count(workspaces.MOST_LEVELS),
  'heap that lives; memory of the machine or container': `${memoryRoom.HEAP_SHORT * 100} % of the heap's limit; ${memoryRoom.MACHINE_SHORT * 100} % of the memory`,
  'free disk': `${diskRoom.DEFAULT_RESERVE_PART * 100} % of it, ${diskRoom.LEAST_RESERVE_BYTES / 2 ** 20} to ${bytes(diskRoom.MOST_RESERVE_BYTES)}`,
  'webhook configurations, policies, bindings, or classes of one kind in a space; ResourceQuotas or LimitRanges in a Namespace; bytes of one kind in either': `${count(settingsLimit.MAX_IN_SPACE)}; ${count(settingsLimit.MAX_IN_NAMESPACE)}; ${bytes(settingsLimit.MAX_BYTES)}`,
  "of all rules of an object; of a policy's validations and messages, of its audit annotations, of each mutation, for a binding and parameter": `${count(effort.MAX_RULE_UNITS)}; ${count(policyVerdict.MAX_POLICY_COST)}`,
  'of the match conditions of a webhook or a policy': count(policyVerdict.MAX_CONDITIONS_COST),
  'of all policies and match conditions that concern one object, for each round of changes and for the validation':
    count(expressionRunner.MAX_REQUEST_COST),
  "value of a policy's expression, as JSON; what its mutations make of an object": `${binary(fromCel.MAX_CHARACTERS)} characters; ${binary(mutatingPolicies.MAX_OBJECT_CHARACTERS)}`,
  'what a `messageExpression` says; an audit annotation': `${bytes(policyVerdict.MAX_MESSAGE_BYTES)}; ${bytes(policyVerdict.MAX_ANNOTATION_BYTES)}, as in Kubernetes`,
  'questions that the expressions of a policy ask the authorizer; characters of one': `${count(celAuthorizer.MAX_QUESTIONS)}; ${binary(celAuthorizer.MAX_QUESTION_CHARACTERS)}`,
  "time on the loop; of a thread's processor, for an object; for a policy": `${duration(loopShare.LEAST_MS)} to ${duration(loopShare.FULL_MS)}; ${duration(longChecks.LIMIT_MS)}; ${duration(expressionRunner.LIMIT_MS)}`,
  'built-in kinds that are judged by a thread': `objects of more than ${count(largeWrites.LARGE_VALUES)} fields and elements; ${duration(longChecks.LIMIT_MS)}`,
  'values that the JSONPath of a printer column looks at; those of all columns, 50 characters that are shown counting as one': `${count(jsonPath.MAX_LOOKED_AT)} in an object; ${count(table.MAX_ROW)}`,
  'certificates in the `caBundle` of a webhook; its characters': `${count(webhookTrust.MAX_BUNDLE_CERTIFICATES)}; ${binary(webhookTrust.MAX_BUNDLE_CHARS)}`,
  'answer of an admission webhook; fields and elements of it': `${bytes(webhookClient.MAX_RESPONSE_BYTES)}, within \`timeoutSeconds\` (1 to 30, default 10); ${count(objectSize.VALUES_LIMIT)}`,
  'interim answers (1xx) of a webhook': count(webhookClient.MOST_INTERIM),
  'validating webhooks that judge one object at the same time': count(webhooks.AT_ONCE),
  'webhook calls of a tenant (a space directly below `root`, with all below it) at the same time; their bytes, sent or received': `${count(webhookCalls.TENANT_CALLS)}; ${bytes(webhookCalls.TENANT_BYTES)}`,
  'the same of the whole server; what a tenant may have of it all the same': `${count(webhookCalls.SERVER_CALLS)}, ${bytes(webhookCalls.SERVER_BYTES)}; ${count(webhookCalls.KEPT_CALLS)}, ${bytes(webhookCalls.KEPT_BYTES)}`,
  'objects that a conversion webhook converts at once; their bytes': `${count(views.CONVERTED_TOGETHER)}; ${bytes(views.CONVERTED_BYTES)}, or one object`,
  'its answer; beside 2 MiB no more than so many times what it was sent; fields and elements': `${bytes(servedDefinitions.CONVERSION_LIMIT_BYTES)}, within ${count(servedDefinitions.CONVERSION_TIMEOUT_SECONDS)} s; ${count(servedDefinitions.CONVERSION_TIMES_SENT)}; ${count(servedDefinitions.CONVERSION_LIMIT_VALUES)}`,
  'what was converted, by webhooks or to a newer schema, and is kept, of a space; time in which none of it goes': `${bytes(convertedViews.VIEWS_BYTES)}; ${duration(convertedViews.FRESH_MS)}, and while a list is read`,
  'work statuses of a list without `limit`': count(answeredReader.MAX_UNPAGED),
  'names of changed work statuses that a space remembers for watches; that one watch waits for; time without a reader until the space forgets them': `${count(answeredLog.LIMIT)}; ${count(answeredReader.MAX_KNOWN)}; ${duration(answeredReader.FORGOTTEN_AFTER_MS)}`,
  'rights looked up for one write of an EdgePlacement': count(placementAdmission.MAX_QUESTIONS),
  'InventoryBindings of a space': count(bindingAdmission.MAX_BINDINGS),
  'silence on a space stream before the kernel asks its peer, and gives it up ten seconds later': duration(
    spaceStream.PROBE_AFTER_MS,
  ),
  'comparisons of a role, piece by piece, with what its writer holds': count(escalation.MOST_WORK),
  'steps that aggregated ClusterRoles of a space gather rules in, for authorization': count(aggregation.MOST_WORK),
  'roles and bindings of a space that count, as they are stored': bytes(rbacReader.MOST_BYTES),
  'groups of an access review; keys and values of its `extra`; requirements and values of a selector in it': `${count(reviewLimits.REVIEW_ITEMS)} each`,
  'audiences of a TokenRequest or TokenReview; characters of each; of the token of a TokenReview': `${count(reviewLimits.AUDIENCES)}; ${count(reviewLimits.AUDIENCE_LENGTH)}; ${count(reviewLimits.TOKEN_LENGTH)}`,
  'verbs, groups, resources and names that a SelfSubjectRulesReview lists': count(reviews.TOLD_WORDS),
  'connections; those without a credential': `what the file descriptors allow; half of that, at most ${count(strangerLimits.TOTAL)}`,
  'a document of the OIDC issuer; the next attempt after a failure': `${bytes(fetchJson.LIMIT_BYTES)} within ${duration(issuerKeys.TIMEOUT_MS)}; after ${duration(issuerKeys.RETRY_MS)}`,
  'keys of the OIDC issuer are read anew; unknown ones at most': `every ${issuerKeys.MAX_AGE_MS / 60_000} min; every ${duration(issuerKeys.COOLDOWN_MS)}`,
  'a good token is remembered': `${duration(union.REMEMBERED_MS)}; not longer than its ServiceAccount exists`,
  'life of a certificate for a CertificateSigningRequest': `at least ${count(certificateSigner.MIN_SECONDS)} s, at most ${count(certificateSigner.YEAR_SECONDS)} s`,
  'life of a ServiceAccount token': `at least ${count(tokenRequest.MIN_SECONDS)} s, at most \`${tokenRequest.YEAR_SECONDS / 3600}h\``,
}
