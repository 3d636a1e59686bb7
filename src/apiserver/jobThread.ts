/** Jobs of the threads of the server's pool, by name. Callers of a job have its `JobKind`. */
import { parseJsonSafely } from '../apimachinery/jsonParse.ts'
import { serveJobs } from '../program/serveJobs.ts'

parseJsonSafely()
serveJobs({
  check: async () => (await import('./registry/checkJob.ts')).checkJob,
  kind: async () => (await import('./registry/kindJob.ts')).kindJob,
  bigYaml: async () => (await import('./exchange/bodies/bigYamlJob.ts')).bigYamlJob,
  expressions: async () => (await import('./admission/expressionJob.ts')).expressionJob,
})
