/** What runs in the threads of the server's pool: the jobs by name. Whoever asks for one has its `JobKind`. */
import { serveJobs } from '../program/serveJobs.ts'

serveJobs({
  bigYaml: async () => (await import('./endpoints/bigYamlJob.ts')).bigYamlJob,
})
