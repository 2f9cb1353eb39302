// The data that the server sends a page when it opens: losses, pages, and facts of the page itself.
// Filled before anything is mounted, and never changed.
/**
 * @typedef {import("../wire").ExploreFacts & import("../wire").CompareFacts & import("../wire").DoctorFacts
 *   & import("../wire").LargeFacts
 *   & import("../wire").FinetuneFacts & import("../wire").LearnFacts
 *   & import("../wire").SphereFacts & import("../wire").LandscapeFacts
 *   & import("../wire").SentenceMapFacts & import("../wire").ClaimsFacts} PageData
 */
export const pageData = /** @type {PageData} */ ({}); // of the pages' own, that of this page alone
