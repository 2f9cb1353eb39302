// What the server told this page when it opened: the losses, the other pages, the page's own facts.
// Filled before anything is mounted, and never changed.
/**
 * @typedef {import("../wire").ExploreFacts & import("../wire").CompareFacts & import("../wire").DoctorFacts
 *   & import("../wire").LargeFacts
 *   & import("../wire").FinetuneFacts} Given
 */
export const given = /** @type {Given} */ ({}); // of the pages' own, that of this page alone
