-- Replaces push.lua if the service does not let scripts publish. Scripts then send no messages, and so grant nothing to
-- waiting clients. The client that released sends them a hint afterwards, if it may publish.

local pushes = false

local function hears()
  return false
end

local function tell() end

local function rivals()
  return {}
end

local function announce()
  return 0
end

local function releasesOf() end

local function mayTell()
  return false
end
